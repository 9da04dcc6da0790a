import type { JsonSchema } from '../../units/tool-manifest.ts';

const maxUsageLength = 4096;
const maxParameters = 64;
const maxDepth = 4;

const typeNames: Readonly<Record<string, JsonSchema>> = {
  string: { type: 'string' },
  str: { type: 'string' },
  text: { type: 'string' },
  number: { type: 'number' },
  float: { type: 'number' },
  integer: { type: 'integer' },
  int: { type: 'integer' },
  boolean: { type: 'boolean' },
  bool: { type: 'boolean' },
  array: { type: 'array' },
  list: { type: 'array' },
  object: { type: 'object' },
  json: {},
  any: {},
};

/**
 * The schema of last resort, from a usage line such as `search(query, limit?: number, tags:array, {lang, region?})`.
 * A parameter without a type is text; `?`, a default or brackets make it optional; braces name arguments of the same
 * object. Undefined when the line has no parameter list that can be read.
 */
export function parseUsageToSchema(usage: string): JsonSchema | undefined {
  const list = parameterList(usage.slice(0, maxUsageLength));
  if (list === undefined) return undefined;
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const parameter of readParameters(list, 0)) {
    if (Object.hasOwn(properties, parameter.name)) continue;
    properties[parameter.name] = parameter.schema;
    if (!parameter.optional) required.push(parameter.name);
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly optional: boolean;
}

function parameterList(usage: string): string | undefined {
  const open = usage.indexOf('(');
  if (open === -1) return undefined;
  let depth = 0;
  for (let index = open; index < usage.length; index++) {
    if (usage[index] === '(') depth += 1;
    if (usage[index] === ')') depth -= 1;
    if (depth === 0) return usage.slice(open + 1, index);
  }
  return undefined;
}

function readParameters(list: string, depth: number): Parameter[] {
  return splitTopLevel(list)
    .flatMap((part) => readParameter(part, depth))
    .slice(0, maxParameters);
}

function readParameter(part: string, depth: number): Parameter[] {
  const text = part.trim();
  const braced = /^\{([\s\S]*)\}(\?)?$/.exec(text);
  if (braced && depth < maxDepth) {
    return readParameters(braced[1] ?? '', depth + 1).map((inner) => (braced[2] ? { ...inner, optional: true } : inner));
  }
  const bracketed = /^\[([\s\S]*)\]$/.exec(text);
  if (bracketed && depth < maxDepth)
    return readParameters(bracketed[1] ?? '', depth + 1).map((inner) => ({ ...inner, optional: true }));
  const match = /^(?:\.\.\.)?["']?([A-Za-z_$][\w$-]{0,63})["']?(\[\])?\s*(\?)?\s*(?::\s*([^=]*?))?\s*(?:=\s*([\s\S]*))?$/.exec(
    text,
  );
  if (!match?.[1] || isForbidden(match[1])) return [];
  const [, name, list, question, type, fallback] = match;
  const base = list ? { type: 'array' } : readType(type ?? '', depth);
  const value = fallback === undefined ? undefined : readDefault(fallback);
  const schema = value === undefined ? base : { ...base, default: value };
  return [{ name, schema, optional: question !== undefined || fallback !== undefined || Boolean(type?.endsWith('?')) }];
}

function readType(type: string, depth: number): JsonSchema {
  const text = type.trim().replace(/\?$/, '');
  if (text === '') return { type: 'string' };
  const item = /^([\s\S]+)\[\]$/.exec(text)?.[1] ?? /^(?:Array|array|list)<([\s\S]+)>$/.exec(text)?.[1];
  if (item !== undefined && depth < maxDepth) return { type: 'array', items: readType(item, depth + 1) };
  if (text.startsWith('{') && depth < maxDepth) {
    const properties = readParameters(text.replace(/^\{|\}$/g, ''), depth + 1);
    return { type: 'object', properties: Object.fromEntries(properties.map(({ name, schema }) => [name, schema])) };
  }
  const choices = text.split(/[|/]/).map((choice) => choice.trim());
  const quoted = choices.map((choice) => /^["'](.*)["']$/.exec(choice)?.[1]);
  if (quoted.every((choice) => choice !== undefined)) return { type: 'string', enum: [...new Set(quoted)] };
  if (choices.length > 1)
    return choices.every((choice) => Object.hasOwn(typeNames, choice.toLowerCase())) ? {} : { type: 'string', enum: choices };
  const known = text.toLowerCase();
  return (Object.hasOwn(typeNames, known) && typeNames[known]) || {};
}

function readDefault(text: string): unknown {
  const value = text.trim().replace(/^'(.*)'$/, '"$1"');
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** Splits at commas outside of brackets, braces and quotes. */
function splitTopLevel(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 0;
  for (let index = 0; index < list.length; index++) {
    const character = list[index] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if ('([{<'.includes(character)) depth += 1;
    else if (')]}>'.includes(character)) depth -= 1;
    else if (character === ',' && depth === 0) {
      parts.push(list.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, list.slice(start)].filter((part) => part.trim() !== '');
}

// A property of this name would change what the object of properties inherits.
function isForbidden(name: string): boolean {
  return name === '__proto__';
}
