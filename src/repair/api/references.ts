import { isObject } from '../../config/json-object.ts';
import { modernizeKeywords } from '../../tools/validation/draft-07.ts';
import { refuseApi } from './read-document.ts';

/** Reads one operation of a description; what refers to something else in it is followed, within bounds. */
export interface References {
  /** The object that stands here or is referred to; undefined for what is no object. */
  follow(node: unknown): Record<string, unknown> | undefined;
  /** A schema with everything that it refers to in it; a schema that holds itself is open there. */
  expand(node: unknown): unknown;
}

const maxParts = 3000;
const maxDepth = 16;
const maxSteps = 32;
const maxTextChars = 400;
const maxMembers = 300;

const plainKeywords = [
  ...['type', 'format', 'enum', 'const', 'default', 'required', 'pattern', 'uniqueItems', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
];
const listKeywords = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const schemaKeywords = ['items', 'additionalProperties', 'not'];

/** Begins the reading of one operation: what it refers to is counted from here. Throws `api-description-invalid`. */
export function openReferences(document: Record<string, unknown>): References {
  let parts = 0;

  function find(reference: unknown): unknown {
    const pointer = typeof reference === 'string' ? reference : '';
    if (!pointer.startsWith('#/')) {
      throw refuseApi(
        `It refers to another document, ${JSON.stringify(pointer.slice(0, 100))}, which is not read.`,
        'Put all of it into one file first: npx -y @redocly/cli bundle FILE --output api.json',
      );
    }
    let node: unknown = document;
    for (const step of pointer.slice(2).split('/')) {
      const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const isThere = typeof node === 'object' && node !== null && Object.hasOwn(node, key);
      node = isThere ? Reflect.get(Object(node), key) : undefined;
      if (node === undefined) throw refuseApi(`It refers to ${pointer.slice(0, 100)}, which is not there.`);
    }
    return node;
  }

  function follow(node: unknown): Record<string, unknown> | undefined {
    let found = node;
    for (let steps = 0; isObject(found) && found.$ref !== undefined; steps++) {
      if (steps >= maxSteps) throw refuseApi(`${String(found.$ref).slice(0, 100)} refers to itself.`);
      found = find(found.$ref);
    }
    return isObject(found) ? found : undefined;
  }

  function expand(node: unknown, depth: number, above: readonly string[]): unknown {
    if (typeof node === 'boolean') return node;
    parts += 1;
    if (parts > maxParts) throw refuseApi(`Its schemas have more than ${maxParts} parts.`);
    if (!isObject(node) || depth > maxDepth) return {};
    if (node.$ref === undefined) return copy(node, depth, above);
    const pointer = String(node.$ref);
    if (above.includes(pointer) || above.length >= maxSteps) return {};
    const found = expand(find(node.$ref), depth + 1, [...above, pointer]);
    return isObject(found) && typeof node.description === 'string' ? { ...found, ...describe(node) } : found;
  }

  function copy(node: Record<string, unknown>, depth: number, above: readonly string[]): Record<string, unknown> {
    const schema = modernizeKeywords(node);
    const inner = (each: unknown) => expand(each, depth + 1, above);
    const found: Record<string, unknown> = {};
    for (const keyword of plainKeywords) if (schema[keyword] !== undefined) found[keyword] = cleanValue(schema[keyword]);
    for (const keyword of listKeywords) {
      const list = schema[keyword];
      if (Array.isArray(list)) found[keyword] = list.slice(0, maxMembers).map(inner);
    }
    for (const keyword of schemaKeywords) if (schema[keyword] !== undefined) found[keyword] = inner(schema[keyword]);
    if (isObject(schema.properties)) {
      // What only answers have is not asked for.
      const sent = Object.entries(schema.properties).filter(([key, each]) => isSafeKey(key) && follow(each)?.readOnly !== true);
      const names = new Set(sent.map(([key]) => key));
      found.properties = Object.fromEntries(sent.map(([key, each]) => [key, inner(each)]));
      if (Array.isArray(found.required)) found.required = found.required.filter((name) => names.has(name));
    }
    if (!fitsType(found.default, found.type)) delete found.default;
    if (Array.isArray(found.enum) && schema.nullable === true && !found.enum.includes(null)) found.enum = [...found.enum, null];
    return { ...found, ...describe(schema) };
  }

  return { follow, expand: (node) => expand(node, 0, []) };
}

/** A default of another type (`on` for a boolean) would make every call without the argument wrong. */
function fitsType(value: unknown, type: unknown): boolean {
  const types: unknown[] = Array.isArray(type) ? type : [type];
  if (value === undefined || type === undefined) return true;
  if (value === null) return types.includes('null');
  if (Array.isArray(value)) return types.includes('array');
  if (typeof value === 'number') return types.includes('number') || (types.includes('integer') && Number.isInteger(value));
  return types.includes(typeof value);
}

/** A value without keys that would be something else in a literal of the code. */
export function cleanValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxMembers).map(cleanValue);
  if (!isObject(value)) return typeof value === 'string' ? value.slice(0, maxTextChars) : value;
  const entries = Object.entries(value).slice(0, maxMembers);
  return Object.fromEntries(entries.flatMap(([key, each]) => (isSafeKey(key) ? [[key, cleanValue(each)]] : [])));
}

/** In a literal `__proto__` is no key. */
function isSafeKey(key: string): boolean {
  return key !== '__proto__';
}

function describe({ description, title }: Record<string, unknown>): { description?: string } {
  const text = typeof description === 'string' && description.trim() !== '' ? description : title;
  return typeof text === 'string' && text.trim() !== '' ? { description: text.trim().slice(0, maxTextChars) } : {};
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
