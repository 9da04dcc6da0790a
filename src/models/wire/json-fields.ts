import { isObject } from '../../config/json-object.ts';
import type { JsonObject } from '../../conversation/conversation.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

// Reading of JSON that comes from outside: what has another type than expected counts as absent.

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A number of tokens; whatever is none counts as 0. */
export function countIn(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

export function flagIn(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

export function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return listIn(value).filter(isObject);
}

/** The object without what is undefined. */
export function compact(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The object without what is undefined, or nothing when nothing is left. */
export function nonEmpty(fields: JsonObject): JsonObject | undefined {
  const left = compact(fields);
  return Object.keys(left).length === 0 ? undefined : left;
}

/** The body of a request as an object. Throws `body-invalid`. */
export function requireObject(value: unknown, where: string): JsonObject {
  if (isObject(value)) return value;
  throw describeWrong(where, 'an object', value);
}

/** A list of objects. Throws `body-invalid`. */
export function requireObjects(value: unknown, where: string): readonly JsonObject[] {
  if (!Array.isArray(value)) throw describeWrong(where, 'a list', value);
  return value.map((entry, position) => requireObject(entry, `${where}[${position}]`));
}

/** What is refused of a request. */
export function describeWrong(where: string, expected: string, value: unknown): HotcellError {
  const came = value === undefined ? 'nothing came' : `${JSON.stringify(value)?.slice(0, 80) ?? typeof value} came`;
  return new HotcellError('body-invalid', `${where}: ${expected} was expected, ${came}.`, { facts: { where } });
}

/** The text of content that is nothing but one text. */
export function onlyText(content: readonly JsonObject[]): string | undefined {
  const [only] = content;
  return content.length === 1 && only !== undefined && Object.keys(only).length === 2 ? textIn(only.text) : undefined;
}
