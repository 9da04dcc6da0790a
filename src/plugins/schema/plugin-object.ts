import { posix } from 'node:path';
import type { ArrowFunctionExpression, Expression, Function as FunctionNode, ObjectExpression, ObjectProperty } from 'oxc-parser';
import type { Found, ModuleGraph } from './module-graph.ts';
import type { ModuleIndex, ValueNode } from './module-index.ts';
import { keyName } from './walk-nodes.ts';

const maxHops = 12;

/** A handler as it is written. `documented` is where its doc comment would end. */
export interface HandlerNode {
  readonly key: string;
  readonly module: ModuleIndex;
  readonly fn: FunctionNode | ArrowFunctionExpression;
  readonly documented: number;
  /** A function that is exported instead of a plugin: it may take its arguments one by one. */
  readonly isBare?: boolean;
}

/** The plugin of an entry: an object literal, or the named exports of the module. */
export type PluginNode =
  | { readonly kind: 'object'; readonly found: Found<ObjectExpression> }
  | { readonly kind: 'function'; readonly found: Found<FunctionNode | ArrowFunctionExpression> }
  | { readonly kind: 'namespace'; readonly module: ModuleIndex };

/** Finds what the entry exports as its plugin, in the order in which the sandbox looks for it. */
export function findPluginNode(graph: ModuleGraph, entry: ModuleIndex): PluginNode | undefined {
  const main = entry.main && resolveObject(graph, { module: entry, node: entry.main });
  if (main) {
    const inner = propertyOf(graph, main, 'default');
    const nested = inner && resolveObject(graph, { module: inner.module, node: inner.node.value });
    return { kind: 'object', found: nested ?? main };
  }
  const bare = entry.main && resolveFunction(graph, { module: entry, node: entry.main });
  if (bare) return { kind: 'function', found: bare };
  const fileBase = posix.basename(entry.path).replace(/\.[^.]*$/, '');
  const named = [...entry.exports].sort(([a], [b]) => Number(b === fileBase) - Number(a === fileBase));
  for (const [name, local] of named) {
    const value = graph.findValue(entry, local);
    const object = value && resolveObject(graph, value);
    if (object && (name === fileBase || propertyOf(graph, object, 'handler'))) return { kind: 'object', found: object };
  }
  return entry.exports.has('handler') || entry.exports.has('tools') ? { kind: 'namespace', module: entry } : undefined;
}

/** The handlers of a plugin, by the key that engines know them by. */
export function findHandlers(graph: ModuleGraph, plugin: PluginNode): HandlerNode[] {
  const handlers: HandlerNode[] = [];
  const add = (key: string, value: Found<ValueNode> | undefined, documented: number | undefined) => {
    const fn = value && resolveFunction(graph, value);
    if (fn) handlers.push({ key, module: fn.module, fn: fn.node, documented: documented ?? fn.node.start });
  };
  if (plugin.kind === 'function') {
    const { module, node: fn } = plugin.found;
    // The comment stands before `export default`.
    const before = /export\s+default\s+(?:async\s+)?$/.exec(module.text.slice(0, fn.start));
    return [{ key: 'default', module, fn, documented: before?.index ?? fn.start, isBare: true }];
  }
  const handler = memberOf(graph, plugin, 'handler');
  if (handler) add('default', handler.value, handler.start);
  const tools = memberOf(graph, plugin, 'tools');
  for (const [key, entry] of tools ? listTools(graph, tools.value) : []) {
    const tool = resolveObject(graph, entry);
    const toolHandler = tool && propertyOf(graph, tool, 'handler');
    if (toolHandler) add(key, { module: toolHandler.module, node: toolHandler.node.value }, toolHandler.node.start);
  }
  return handlers;
}

/** The tools of a table by their keys, those of a list by their numbers. */
function listTools(graph: ModuleGraph, from: Found<ValueNode>): [key: string, tool: Found<ValueNode>][] {
  const list = follow(graph, from, (node) => (node.type === 'ArrayExpression' ? node : undefined));
  if (list) {
    const { module, node } = list;
    const spread = node.elements.findIndex((element) => element === null || element.type === 'SpreadElement');
    return node.elements
      .slice(0, spread < 0 ? undefined : spread)
      .flatMap((element, index) =>
        element && element.type !== 'SpreadElement' ? [[`${index}`, { module, node: element }]] : [],
      );
  }
  const table = resolveObject(graph, from);
  return (table?.node.properties ?? []).flatMap((property) => {
    const key = property.type === 'Property' && !property.computed ? keyName(property.key) : undefined;
    if (!table || property.type !== 'Property' || key === undefined) return [];
    return [[key, { module: table.module, node: property.value }]];
  });
}

/** Follows names, `satisfies`, `as` and calls such as `definePlugin({…})` to the object that an expression stands for. */
export function resolveObject(graph: ModuleGraph, from: Found<ValueNode>): Found<ObjectExpression> | undefined {
  return follow(graph, from, (node) => (node.type === 'ObjectExpression' ? node : undefined));
}

/** A property of an object literal, the last of its name; spread objects count where they stand. */
export function propertyOf(
  graph: ModuleGraph,
  object: Found<ObjectExpression>,
  name: string,
  hops = maxHops,
): Found<ObjectProperty> | undefined {
  if (hops <= 0) return undefined;
  for (const property of object.node.properties.toReversed()) {
    if (property.type === 'SpreadElement') {
      const spread = resolveObject(graph, { module: object.module, node: property.argument });
      const inner = spread && propertyOf(graph, spread, name, hops - 1);
      if (inner) return inner;
    } else if (!property.computed && keyName(property.key) === name) {
      return { module: object.module, node: property };
    }
  }
  return undefined;
}

/** The text that a member of the plugin is set to, when it stands there as a literal. */
export function findLiteral(graph: ModuleGraph, plugin: PluginNode, name: string): string | undefined {
  const member = memberOf(graph, plugin, name);
  const literal = member && follow(graph, member.value, (node) => (node.type === 'Literal' ? node : undefined));
  return typeof literal?.node.value === 'string' ? literal.node.value : undefined;
}

function memberOf(graph: ModuleGraph, plugin: PluginNode, name: string): { value: Found<ValueNode>; start?: number } | undefined {
  if (plugin.kind === 'function') return undefined;
  if (plugin.kind === 'object') {
    const property = propertyOf(graph, plugin.found, name);
    return property && { value: { module: property.module, node: property.node.value }, start: property.node.start };
  }
  const local = plugin.module.exports.get(name);
  const value = local === undefined ? undefined : graph.findValue(plugin.module, local);
  return value && { value };
}

function resolveFunction(graph: ModuleGraph, from: Found<ValueNode>): Found<FunctionNode | ArrowFunctionExpression> | undefined {
  return follow(graph, from, (node) =>
    node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration'
      ? node
      : undefined,
  );
}

function follow<Node>(
  graph: ModuleGraph,
  from: Found<ValueNode>,
  pick: (node: ValueNode) => Node | undefined,
): Found<Node> | undefined {
  let { module, node } = from;
  for (let hops = 0; hops < maxHops; hops++) {
    const picked = pick(node);
    if (picked !== undefined) return { module, node: picked };
    const next = step(graph, module, node);
    if (!next) return undefined;
    ({ module, node } = next);
  }
  return undefined;
}

function step(graph: ModuleGraph, module: ModuleIndex, node: ValueNode): Found<ValueNode> | undefined {
  switch (node.type) {
    case 'Identifier':
      return graph.findValue(module, node.name);
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSTypeAssertion':
    case 'TSNonNullExpression':
    case 'ParenthesizedExpression':
      return { module, node: node.expression };
    case 'CallExpression': {
      // definePlugin, defineTool, Object.freeze, a wrapper of one's own: what goes in is what comes out.
      const argument: Expression | undefined = node.arguments.find((candidate) => candidate.type !== 'SpreadElement');
      return argument && { module, node: argument };
    }
    default:
      return undefined;
  }
}
