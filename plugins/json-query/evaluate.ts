import type { ComparisonOperator, Expression, FunctionName, Segment, Selector } from './syntax.ts';

/** A value of the document and where it stands, as a normalized path: $['store']['book'][0]. */
export interface Node {
  readonly path: string;
  readonly value: unknown;
}

// No node is there: compares equal only to itself, as RFC 9535 has it.
const nothing = Symbol('nothing');
const maxNodes = 200_000;

/** All nodes that the segments select, in document order of each step. */
export function evaluateQuery(segments: readonly Segment[], document: unknown): Node[] {
  return select(segments, { path: '$', value: document }, document);
}

function select(segments: readonly Segment[], start: Node, root: unknown): Node[] {
  let nodes = [start];
  for (const { descendant, selectors } of segments) {
    const from = descendant ? nodes.flatMap(listDescendants) : nodes;
    nodes = from.flatMap((node) => selectors.flatMap((selector) => applySelector(selector, node, root)));
    if (nodes.length > maxNodes) throw new RangeError(`The query selects more than ${maxNodes} values.`);
  }
  return nodes;
}

/** The node itself and everything below it, parents first. */
function listDescendants(node: Node): Node[] {
  const all: Node[] = [];
  const waiting = [node];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    all.push(next);
    if (all.length > maxNodes) throw new RangeError(`".." meets more than ${maxNodes} values.`);
    waiting.push(...listChildren(next).reverse());
  }
  return all;
}

function listChildren({ path, value }: Node): Node[] {
  if (Array.isArray(value)) return value.map((item, index) => ({ path: `${path}[${index}]`, value: item }));
  if (!isObject(value)) return [];
  return Object.entries(value).map(([name, member]) => ({ path: path + formatName(name), value: member }));
}

function formatName(name: string): string {
  return `['${name.replace(/[\\']/g, '\\$&')}']`;
}

function applySelector(selector: Selector, node: Node, root: unknown): Node[] {
  const { path, value } = node;
  switch (selector.kind) {
    case 'wildcard':
      return listChildren(node);
    case 'name':
      if (!isObject(value) || !Object.hasOwn(value, selector.name)) return [];
      return [{ path: path + formatName(selector.name), value: value[selector.name] }];
    case 'index': {
      if (!Array.isArray(value)) return [];
      const index = selector.index < 0 ? value.length + selector.index : selector.index;
      return index >= 0 && index < value.length ? [{ path: `${path}[${index}]`, value: value[index] }] : [];
    }
    case 'slice':
      if (!Array.isArray(value)) return [];
      return listSlice(selector, value.length).map((index) => ({ path: `${path}[${index}]`, value: value[index] }));
    case 'filter':
      return listChildren(node).filter((child) => holds(selector.test, child.value, root));
  }
}

function listSlice({ start, end, step }: { start?: number; end?: number; step: number }, length: number): number[] {
  if (step === 0) return [];
  const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value < 0 ? value + length : value, low), high);
  const indexes: number[] = [];
  if (step > 0) {
    const last = clamp(end ?? length, 0, length);
    for (let index = clamp(start ?? 0, 0, length); index < last; index += step) indexes.push(index);
  } else {
    const last = end === undefined ? -1 : clamp(end, -1, length - 1);
    for (let index = clamp(start ?? length - 1, -1, length - 1); index > last; index += step) indexes.push(index);
  }
  return indexes;
}

/** Whether a filter holds: a query holds when it finds something, a function when it answers true. */
function holds(test: Expression, current: unknown, root: unknown): boolean {
  switch (test.kind) {
    case 'or':
      return holds(test.left, current, root) || holds(test.right, current, root);
    case 'and':
      return holds(test.left, current, root) && holds(test.right, current, root);
    case 'not':
      return !holds(test.inner, current, root);
    case 'compare':
      return compare(test.operator, readValue(test.left, current, root), readValue(test.right, current, root));
    case 'query':
      return findNodes(test, current, root).length > 0;
    case 'literal':
    case 'call':
      return readValue(test, current, root) === true;
  }
}

/** One value: a literal, the only node of a query, the answer of a function, or nothing. */
function readValue(expression: Expression, current: unknown, root: unknown): unknown {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'query': {
      const nodes = findNodes(expression, current, root);
      return nodes.length === 1 && nodes[0] ? nodes[0].value : nothing;
    }
    case 'call':
      return callFunction(expression.name, expression.args, current, root);
    default:
      return holds(expression, current, root);
  }
}

function findNodes(expression: Extract<Expression, { kind: 'query' }>, current: unknown, root: unknown): Node[] {
  const start = expression.from === 'root' ? { path: '$', value: root } : { path: '@', value: current };
  return select(expression.segments, start, root);
}

function callFunction(name: FunctionName, args: readonly Expression[], current: unknown, root: unknown): unknown {
  const [first, second] = args;
  if (!first) return nothing;
  if (name === 'count') return first.kind === 'query' ? findNodes(first, current, root).length : nothing;
  const value = readValue(first, current, root);
  if (name === 'value') return value;
  if (name === 'length') return measure(value);
  const pattern = second ? readValue(second, current, root) : nothing;
  if (typeof value !== 'string' || typeof pattern !== 'string') return false;
  return new RegExp(name === 'match' ? `^(?:${pattern})$` : pattern, 'u').test(value);
}

function measure(value: unknown): unknown {
  if (typeof value === 'string') return [...value].length;
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : nothing;
}

function compare(operator: ComparisonOperator, left: unknown, right: unknown): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right);
    case '!=':
      return !isEqual(left, right);
    case '<':
      return isLess(left, right);
    case '>':
      return isLess(right, left);
    case '<=':
      return isLess(left, right) || isEqual(left, right);
    case '>=':
      return isLess(right, left) || isEqual(left, right);
  }
}

/** Only numbers with numbers and text with text have an order. */
function isLess(left: unknown, right: unknown): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  return typeof left === 'string' && typeof right === 'string' && left < right;
}

function isEqual(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index]));
  }
  if (isObject(left) && isObject(right) && !Array.isArray(left) && !Array.isArray(right)) {
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]))
    );
  }
  return left === right;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
