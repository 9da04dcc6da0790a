import type { ObjectExpression } from 'oxc-parser';
import { omitUndefined } from '../../config/json-object.ts';
import { inferHandler } from './handler-input.ts';
import { findEarlyReads, inferPermissions } from './infer-permissions.ts';
import { createModuleGraph, type Found, type ModuleGraph } from './module-graph.ts';
import type { ModuleIndex } from './module-index.ts';
import { findHandlers, findLiteral, findPluginNode, resolveObject } from './plugin-object.ts';
import type { SourcePosition } from './read-result.ts';
import { emptyReadResult, type SchemaFile, type SchemaReadResult } from './schema-types.ts';
import { findSourceUrl } from './source-url.ts';
import { keyName } from './walk-nodes.ts';

const maxPositions = 300;
const maxPositionDepth = 3;

/** Reads the files of one plugin. Runs native code on foreign text: call it only in a process that may die. */
export function readSchemas(files: readonly SchemaFile[], entryPath: string): SchemaReadResult {
  const graph = createModuleGraph(files);
  const entry = graph.get(entryPath);
  if (!entry) return emptyReadResult(`The source of "${entryPath}" was not there to read types from.`);
  const plugin = findPluginNode(graph, entry);
  const handlers = plugin ? findHandlers(graph, plugin) : [];
  const modules = files.flatMap((file) => (/\.d\.[cm]?ts$|\.json$/.test(file.path) ? [] : (graph.get(file.path) ?? [])));
  const sourceUrl = findSourceUrl(entry.text);
  const engine = plugin && findLiteral(graph, plugin, 'engine');
  const name = plugin && findLiteral(graph, plugin, 'name');
  const earlyReads = engine === undefined || engine === 'quickjs' ? describeEarlyReads(findEarlyReads(modules)) : undefined;
  return {
    handlers: Object.fromEntries(handlers.map((handler) => [handler.key, inferHandler(graph, handler)])),
    permissions: inferPermissions(modules),
    positions: plugin?.kind === 'object' ? findPositions(graph, plugin.found, entry) : {},
    ...omitUndefined({ sourceUrl, engine, name, earlyReads }),
    warnings: earlyReads === undefined ? [] : [earlyReads],
  };
}

function describeEarlyReads([first, ...more]: readonly string[]): string | undefined {
  if (first === undefined) return undefined;
  const all = [first, ...more].join(', ');
  return `${all} ${more.length === 0 ? 'is' : 'are'} read while the file loads, when no variable is there, and ${more.length === 0 ? 'stays' : 'stay'} undefined. Read it inside the handler: process.env.${first}.`;
}

function findPositions(graph: ModuleGraph, plugin: Found<ObjectExpression>, entry: ModuleIndex): Record<string, SourcePosition> {
  const positions: Record<string, SourcePosition> = {};
  let count = 0;
  const visit = (object: ObjectExpression, prefix: string, depth: number) => {
    for (const property of object.properties) {
      const key = property.type === 'Property' && !property.computed ? keyName(property.key) : undefined;
      if (property.type !== 'Property' || key === undefined || count >= maxPositions) continue;
      count += 1;
      positions[`${prefix}${key}`] = positionAt(entry.text, property.start);
      const inner = depth < maxPositionDepth ? resolveObject(graph, { module: entry, node: property.value }) : undefined;
      if (inner?.module === entry) visit(inner.node, `${prefix}${key}.`, depth + 1);
    }
  };
  if (plugin.module === entry) visit(plugin.node, '', 1);
  return positions;
}

function positionAt(text: string, offset: number): SourcePosition {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
