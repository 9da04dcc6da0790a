import { isObject } from '../../config/json-object.ts';
import type { JsonObject, Part, ToolCallPart } from '../../conversation/conversation.ts';
import type { ConversationRequest } from '../../conversation/request.ts';
import { freeTextArguments } from '../../conversation/tool-arguments.ts';
import { writeEach } from './parts.ts';
import type { Losses } from './writing.ts';

/** What a tool that takes a text takes in formats that know only JSON. */
export const freeTextSchema: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

const maxDepth = 64;

/** JSON Schema of what Gemini declares in its dialect of OpenAPI: types in capitals, `nullable`. */
export function readOpenApiSchema(schema: JsonObject, depth = 0): JsonObject {
  if (depth > maxDepth) return schema;
  const { type, nullable, ...rest } = schema;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, readInner(key, value, depth + 1)]));
  if (typeof type !== 'string') return { ...(type !== undefined && { type }), ...inner };
  const lower = type.toLowerCase();
  return { ...(type !== 'TYPE_UNSPECIFIED' && { type: nullable === true ? [lower, 'null'] : lower }), ...inner };
}

function readInner(key: string, value: unknown, depth: number): unknown {
  if (key === 'enum' || key === 'default' || key === 'example') return value;
  if (Array.isArray(value)) return value.map((entry) => (isObject(entry) ? readOpenApiSchema(entry, depth) : entry));
  if (!isObject(value)) return value;
  if (key !== 'properties') return readOpenApiSchema(value, depth);
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, isObject(schema) ? readOpenApiSchema(schema, depth) : schema]),
  );
}

/** The tools of providers that this format knows; those of others are told as lost. */
export function writeNativeTools({ nativeTools }: ConversationRequest, losses: Losses): JsonObject[] {
  return writeEach(nativeTools, (tool) => losses.takeNative('A tool', tool));
}

/** Whether a tool of the request takes a text. */
export function takesFreeText(request: ConversationRequest | undefined, name: string): boolean {
  return request?.tools.some((tool) => tool.name === name && tool.isFreeText === true) ?? false;
}

/** A call as the tool that was asked for takes it: `{input}` becomes the text, where the tool takes one. */
export function fitCall<Any extends Part>(part: Any, request: ConversationRequest | undefined): Any | ToolCallPart {
  if (part.type !== 'tool-call' || part.arguments.state === 'broken' || !takesFreeText(request, part.name)) return part;
  const { input } = part.arguments.value;
  return typeof input === 'string' ? { ...part, isFreeText: true, arguments: freeTextArguments(input) } : part;
}
