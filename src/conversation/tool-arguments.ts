import { jsonrepair } from 'jsonrepair';
import { isObject, readJson } from '../config/json-object.ts';
import type { JsonObject, ToolArguments } from './conversation.ts';

/** Beyond this many characters malformed arguments are not mended. */
const maxMendedChars = 1_000_000;

/**
 * Reads the arguments of a call: nothing means none, malformed JSON is mended where that gives an object. `isCut` means that more would
 * have come: half a value is never completed. Does not throw.
 */
export function readToolArguments(text: string, { isCut = false } = {}): ToolArguments {
  if (text.trim() === '') return isCut ? broken(text, 'The answer ended before the arguments began.') : argumentsOf({});
  const parsed = readJson(text);
  if (isObject(parsed)) return { state: 'valid', text, value: parsed };
  if (parsed === null) return argumentsOf({});
  if (isCut) return broken(text, 'The answer ended in the middle of the arguments. Nothing was run; call the tool again.');
  const mended = findIntended(text, parsed);
  if (mended !== undefined) return mended;
  const what = parsed === undefined ? 'are not valid JSON' : `are ${Array.isArray(parsed) ? 'a list' : `a ${typeof parsed}`}`;
  return broken(text, `The arguments ${what}; a JSON object was expected. Nothing was run; call the tool again.`);
}

/** Arguments that are this object. */
export function argumentsOf(value: JsonObject): ToolArguments {
  return { state: 'valid', text: JSON.stringify(value), value };
}

/** Arguments of a tool that takes a text. */
export function freeTextArguments(text: string): ToolArguments {
  return { state: 'valid', text, value: { input: text } };
}

/** An object in any case, for formats that know no other arguments. */
export function argumentsValue(given: ToolArguments): JsonObject {
  return given.state === 'broken' ? { invalid_arguments: given.text } : given.value;
}

/** What servers are known to send instead of an object: JSON within a string, the object twice, `{}` before it, sloppy JSON. */
function findIntended(text: string, parsed: unknown): ToolArguments | undefined {
  if (typeof parsed === 'string') return readMended(parsed);
  if (parsed !== undefined) return undefined;
  const half = text.slice(0, text.length / 2);
  return (
    (half + half === text ? readMended(half) : undefined) ??
    readMended(text.replace(/^\s*\{\}/, '')) ??
    (text.length <= maxMendedChars ? readMended(repair(text) ?? '') : undefined)
  );
}

function readMended(text: string): ToolArguments | undefined {
  const value = readJson(text);
  return isObject(value) ? { state: 'mended', text, value } : undefined;
}

function repair(text: string): string | undefined {
  try {
    return jsonrepair(text);
  } catch {
    return undefined;
  }
}

function broken(text: string, problem: string): ToolArguments {
  return { state: 'broken', text, problem };
}
