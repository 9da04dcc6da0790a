import { isObject } from '../../config/json-object.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../../config/read/json-nesting.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';

/**
 * Turns `key=value` words into arguments, by the schema of the tool: text stays text where text is wanted, everything
 * else is read as JSON. `key:=json` is always JSON.
 */
export function readCommandArguments(words: readonly string[], schema: JsonSchema): Record<string, unknown> {
  const seen = new Set<string>();
  const entries = words.map((word): [string, unknown] => {
    const match = /^([^=]+?)(:?=)(.*)$/s.exec(word);
    const [, key = '', sign, text = ''] = match ?? [];
    if (match === null) {
      throw new HotcellError('usage-wrong', `Expected arguments as key=value, got "${word}".`, {
        fix: "Write key=value, --json '{…}', or - to read JSON from standard input.",
      });
    }
    if (seen.has(key)) {
      throw new HotcellError('usage-wrong', `The argument "${key}" is given twice.`, {
        fix: `Give it once; a list is written as JSON: ${key}:='["a","b"]'.`,
      });
    }
    seen.add(key);
    return [key, sign === ':=' ? parseJson(text, `the value of ${key}`) : readValue(text, typesOf(schema, key))];
  });
  return Object.fromEntries(entries);
}

/** Parses JSON that must be an object of arguments. */
export function parseArguments(text: string, what = 'the arguments'): Record<string, unknown> {
  return asArguments(parseJson(text, what), what, `Write for example: --json '{"city":"Oslo"}'`);
}

/** Parses what came from the standard input: no shell had a hand in it, so no quotes are to blame. */
export function parsePipedArguments(text: string): Record<string, unknown> {
  const what = 'the arguments on standard input';
  const fix = `Send one JSON object such as {"city":"Oslo"}.`;
  if (text.trim() === '') throw new HotcellError('usage-wrong', `Expected ${what}, got nothing.`, { fix });
  return asArguments(parseJson(text, what, fix), what, fix);
}

function asArguments(value: unknown, what: string, fix: string): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new HotcellError('usage-wrong', `Expected ${what} as a JSON object, got something else.`, { fix });
}

const shellFix = 'Quote it for your shell: single quotes around, double quotes inside.';

function parseJson(text: string, what: string, fix = shellFix): unknown {
  if (nestsDeeper(text, maxInputDepth)) throw new HotcellError('usage-wrong', `Expected other JSON as ${what}. ${nestsTooDeep}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HotcellError('usage-wrong', `Expected JSON as ${what}: ${error instanceof Error ? error.message : 'it is none'}.`, {
      fix,
    });
  }
}

function readValue(text: string, types: readonly string[]): unknown {
  if (types.includes('string') && !types.some((type) => fitsType(text, type))) return text;
  if (types.length === 1 && types[0] === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A value that several types allow is read as the more special one. */
function fitsType(text: string, type: string): boolean {
  if (type === 'number' || type === 'integer') return text.trim() !== '' && Number.isFinite(Number(text));
  if (type === 'boolean') return text === 'true' || text === 'false';
  if (type === 'null') return text === 'null';
  return type === 'array' ? text.startsWith('[') : type === 'object' ? text.startsWith('{') : false;
}

function typesOf(schema: JsonSchema, key: string): string[] {
  const { properties } = schema;
  const property = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (!isObject(property)) return [];
  const alternatives = [property.anyOf, property.oneOf].filter(Array.isArray).flat();
  const inner: unknown[] = [property, ...alternatives].flatMap((each) => (isObject(each) ? [each.type].flat() : []));
  const constants = [property.enum].filter(Array.isArray).flat();
  return [...inner, ...constants.map((constant) => typeof constant)].filter((type) => typeof type === 'string');
}
