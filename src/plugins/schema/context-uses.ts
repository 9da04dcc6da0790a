import type { Expression, Node } from 'oxc-parser';
import type { PermissionSet } from '../../config/permission-set.ts';
import { parseRequestedPermissions } from '../../permissions/parse.ts';
import type { ModuleIndex } from './module-index.ts';
import { keyName, walkNodes } from './walk-nodes.ts';

type ListKey = 'read' | 'write' | 'tools' | 'run';

const maxEntries = 64;
const usualNames = ['context', 'ctx', '_context', '_ctx', 'extra'];
const changing: ReadonlySet<string> = new Set(['write', 'append', 'delete', 'mkdir']);
const reading: ReadonlySet<string> = new Set(['read', 'readBytes', 'list', 'stat', 'exists']);

/**
 * Reads uses of the context off a module, as the permissions that go with them: literal arguments give exact values, others what is sensible to ask for. Goes by
 * names: the second parameter of functions, parameters that are called like a context, and what is taken out of them.
 */
export function createContextUses(module: ModuleIndex) {
  const members = findContextNames(module);
  const lists: Record<ListKey, Set<string>> = { read: new Set(), write: new Set(), tools: new Set(), run: new Set() };
  let usesKv = false;
  let usesLlm = false;
  let usesFetch = false;

  /** The members from the context on: `context.kv.get` and, of `{ kv }`, `kv.get` are both kv, get. */
  function pathOf(node: Node): readonly string[] | undefined {
    const plain = unwrap(node);
    if (plain.type === 'Identifier') return members.get(plain.name);
    if (plain.type !== 'MemberExpression') return undefined;
    const name = plain.computed && plain.property.type !== 'Literal' ? undefined : keyName(plain.property);
    const before = name === undefined ? undefined : pathOf(plain.object);
    return before === undefined || name === undefined ? undefined : [...before, name];
  }

  function ask(key: ListKey, entries: readonly string[] | undefined, otherwise: string | undefined): void {
    const wanted = entries ?? (otherwise === undefined ? [] : [otherwise]);
    for (const each of wanted) {
      const entry = parseRequestedPermissions({ [key]: [each] }).ok ? each : otherwise;
      if (entry !== undefined && lists[key].size < maxEntries) lists[key].add(entry);
    }
  }

  function noteCall(path: readonly string[], argument: Node | undefined): void {
    const [member = '', method = ''] = path;
    const texts = argument && textsOf(argument, module);
    if (member === 'kv' && path.length === 2) usesKv = true;
    else if (member === 'llm' && path.length === 2) usesLlm = true;
    else if (member === 'fetch') usesFetch = true;
    else if (member === 'run' && path.length === 1) ask('run', texts, undefined);
    else if (member === 'tools' && method === 'call') ask('tools', texts, '*');
    else if (member === 'files' && changing.has(method)) ask('write', texts ?? folderOf(argument), '.');
    else if (member === 'files' && reading.has(method)) ask('read', texts ?? folderOf(argument), '.');
  }

  return {
    /** Notes what a node uses. */
    note(node: Node): void {
      if (node.type !== 'CallExpression') return;
      const path = pathOf(node.callee);
      if (path !== undefined && path.length > 0) noteCall(path, node.arguments[0]);
    },
    /** It reaches for `context.fetch`. */
    mayFetch: () => usesFetch,
    permissions(): PermissionSet {
      const entries = Object.entries(lists).flatMap(([key, set]) => (set.size > 0 ? [[key, [...set].sort()] as const] : []));
      return { ...Object.fromEntries(entries), ...(usesKv ? { kv: true } : {}), ...(usesLlm ? { llm: true } : {}) };
    },
  };
}

/** Names that stand for the context (an empty path) or for something in it. */
function findContextNames(module: ModuleIndex): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, readonly string[]>(usualNames.map((name) => [name, []]));
  const take = (pattern: Node, path: readonly string[]): void => {
    if (pattern.type === 'AssignmentPattern') take(pattern.left, path);
    else if (pattern.type === 'Identifier') {
      // A name that means two things is read as the nearer one to the context.
      if (!members.has(pattern.name)) members.set(pattern.name, path);
    } else if (pattern.type === 'ObjectPattern') {
      for (const property of pattern.properties) {
        const name = property.type === 'Property' && !property.computed ? keyName(property.key) : undefined;
        if (property.type === 'Property' && name !== undefined) take(property.value, [...path, name]);
      }
    }
  };
  walkNodes(module.program, (node) => {
    if (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration') {
      const [, second] = node.params;
      if (second !== undefined) take(second, []);
    } else if (node.type === 'VariableDeclarator' && node.init) {
      const init = unwrap(node.init);
      if (init.type === 'Identifier' && members.has(init.name)) take(node.id, members.get(init.name) ?? []);
      else if (init.type === 'MemberExpression' && !init.computed) {
        const { object } = init;
        const name = keyName(init.property);
        const before = object.type === 'Identifier' ? members.get(object.name) : undefined;
        if (before !== undefined && name !== undefined) take(node.id, [...before, name]);
      }
    }
  });
  return members;
}

function unwrap(node: Node): Node {
  const isWrapped =
    node.type === 'ChainExpression' ||
    node.type === 'TSNonNullExpression' ||
    node.type === 'TSAsExpression' ||
    node.type === 'ParenthesizedExpression' ||
    node.type === 'AwaitExpression';
  return isWrapped ? unwrap('expression' in node ? node.expression : node.argument) : node;
}

/** The texts that an expression can only be; undefined when it may be another one. */
function textsOf(node: Node, module: ModuleIndex, hops = 4): readonly string[] | undefined {
  const both = (one: Expression, other: Expression): readonly string[] | undefined => {
    const texts = [textsOf(one, module, hops - 1), textsOf(other, module, hops - 1)];
    return texts.every((each) => each !== undefined) ? texts.flat() : undefined;
  };
  const plain = unwrap(node);
  if (hops <= 0) return undefined;
  if (plain.type === 'Literal') return typeof plain.value === 'string' ? [plain.value] : undefined;
  if (plain.type === 'TemplateLiteral' && plain.expressions.length === 0) return [plain.quasis[0]?.value.cooked ?? ''];
  if (plain.type === 'ConditionalExpression') return both(plain.consequent, plain.alternate);
  if (plain.type === 'LogicalExpression') return both(plain.left, plain.right);
  const value = plain.type === 'Identifier' ? module.values.get(plain.name) : undefined;
  return value === undefined ? undefined : textsOf(value, module, hops - 1);
}

/** The folder that a path put together from `notes/${name}` or `'notes/' + name` lies in. */
function folderOf(node: Node | undefined): readonly string[] | undefined {
  if (node === undefined) return undefined;
  const plain = unwrap(node);
  if (plain.type === 'BinaryExpression' && plain.operator === '+') return folderOf(plain.left);
  const start =
    plain.type === 'TemplateLiteral'
      ? (plain.quasis[0]?.value.cooked ?? '')
      : plain.type === 'Literal'
        ? String(plain.value)
        : '';
  const end = start.lastIndexOf('/');
  return end > 0 ? [start.slice(0, end)] : undefined;
}
