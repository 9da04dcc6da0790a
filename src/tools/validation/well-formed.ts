import { isObject } from '../../config/json-object.ts';
import type { JsonSchema, ToolManifest } from '../../units/tool-manifest.ts';
import { findLocal } from './prepare-schema.ts';
import { applicators, assertions } from './schema-keywords.ts';

const maxDepth = 64;

/** What may stand in these keywords beside the forms of 2020-12, in the words of older drafts. */
const olderForms: Readonly<Record<string, (value: unknown) => boolean>> = {
  items: Array.isArray,
  exclusiveMinimum: (value) => typeof value === 'boolean',
  exclusiveMaximum: (value) => typeof value === 'boolean',
};

/**
 * The tool with schemas that every reader of JSON Schema takes: keywords of the wrong shape, which are not checked either, are left
 * out. Providers of models and MCP clients refuse a whole list for one such keyword. The same object when nothing is wrong.
 */
export function withWellFormedSchemas(tool: ToolManifest): ToolManifest {
  const input = wellFormedSchema(tool.input);
  const output = tool.output && wellFormedSchema(tool.output);
  if (input === tool.input && output === tool.output) return tool;
  return { ...tool, input, ...(output && { output }) };
}

/** The schema without keywords of the wrong shape; the same object when there are none. */
export function wellFormedSchema(schema: JsonSchema): JsonSchema {
  return mendObject(schema, schema, 0);
}

function mendObject(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  let mended: Record<string, unknown> | undefined;
  for (const [keyword, value] of Object.entries(schema)) {
    const kept = mendKeyword(keyword, value, root, depth);
    if (kept === value) continue;
    mended ??= { ...schema };
    if (kept === undefined) delete mended[keyword];
    else mended[keyword] = kept;
  }
  return mended ?? schema;
}

/** The value as it may stand there; undefined for none. */
function mendKeyword(keyword: string, value: unknown, root: JsonSchema, depth: number): unknown {
  if (keyword === '$ref') return isReference(value, root) ? value : undefined;
  if (keyword === 'title' || keyword === 'description') return typeof value === 'string' ? value : undefined;
  const isOlder = Object.hasOwn(olderForms, keyword) && olderForms[keyword]?.(value) === true;
  if (Object.hasOwn(assertions, keyword)) return isOlder || assertions[keyword]?.(value) === true ? value : undefined;
  const holds = keyword === '$defs' || keyword === 'definitions' ? 'map' : applicators.get(keyword)?.holds;
  if (holds === undefined) return value;
  const mend = (child: unknown) => mendSubschema(child, root, depth + 1);
  if (holds === 'list' || isOlder) return Array.isArray(value) && value.length > 0 ? mendList(value, mend) : undefined;
  if (holds === 'map') return isObject(value) ? mendMap(value, mend) : undefined;
  return isObject(value) || typeof value === 'boolean' ? mend(value) : undefined;
}

function isReference(value: unknown, root: JsonSchema): boolean {
  return typeof value === 'string' && (!value.startsWith('#/') || findLocal(root, value) !== undefined);
}

/** What is no schema says nothing, so that its name stays known. */
function mendSubschema(value: unknown, root: JsonSchema, depth: number): unknown {
  if (typeof value === 'boolean') return value;
  return isObject(value) && depth <= maxDepth ? mendObject(value, root, depth) : {};
}

function mendList(items: readonly unknown[], mend: (item: unknown) => unknown): readonly unknown[] {
  const mended = items.map(mend);
  return mended.every((item, index) => item === items[index]) ? items : mended;
}

function mendMap(map: JsonSchema, mend: (item: unknown) => unknown): JsonSchema {
  const mended = Object.entries(map).map(([key, item]) => [key, mend(item)] as const);
  return mended.every(([key, item]) => item === map[key]) ? map : Object.fromEntries(mended);
}
