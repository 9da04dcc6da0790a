/**
 * What a handler returned, as JSON text. Plain data goes through `JSON.stringify` alone; what that would lose is noticed on
 * the way, and only then the converter is loaded.
 */

/** What the converter is handed beside the value. */
export interface ConvertTools {
  readonly outputBytes: number;
  /** A warning of the call. */
  readonly warn: (text: string) => void;
  /** One piece of what is streamed, counted from 1. */
  readonly tellPart: (count: number, text: string) => void;
  /** What to throw to end the call with a code. */
  readonly refuse: (code: 'output-invalid' | 'output-exceeded', message: string) => unknown;
}

/** Makes plain JSON data of any value; throws for what has none. */
export type Convert = (result: unknown, tools: ConvertTools) => Promise<unknown>;

const { stringify } = JSON;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
const { isArray } = Array;
const { isFinite: isFiniteNumber } = Number;
const maxLooked = 500;

let isWatching = false;
let isOdd = false;
let loadConverter: () => Convert;

/** Says where the converter comes from, and has `JSON.stringify` notice values of these prototypes while a result is written. */
export function provideConverter(load: () => Convert, prototypes: readonly object[]): void {
  loadConverter = load;
  for (const prototype of [...prototypes, ...builtIn()]) watchInResults(prototype);
}

/** The JSON text of a result; a promise of it where something must be read first. */
export function writeResult(result: unknown, tools: ConvertTools): string | Promise<string> {
  if (result === undefined) return 'null';
  const text = isStream(result) ? undefined : writePlain(result);
  if (text !== undefined) return text;
  const written = (plain: unknown): string => stringify(plain) ?? 'null';
  return loadConverter()(result, tools).then(written);
}

/** Undefined for everything that JSON alone would lose or cannot say. */
function writePlain(result: unknown): string | undefined {
  isOdd = false;
  isWatching = true;
  let text: string | undefined;
  try {
    text = stringify(result);
  } catch {
    return undefined;
  } finally {
    isWatching = false;
  }
  if (isOdd || text === undefined) return undefined;
  // NaN becomes null, and an object whose state is private becomes {}: both are rare, so both are looked for only then.
  if ((text.includes('null') || text.includes('{}')) && losesSomething(result, { left: maxLooked })) return undefined;
  return text;
}

function isStream(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function losesSomething(value: unknown, budget: { left: number }): boolean {
  if (typeof value === 'number') return !isFiniteNumber(value);
  if (typeof value === 'symbol') return true;
  if (typeof value !== 'object' || value === null || budget.left-- <= 0) return false;
  if (value instanceof Date) return !isFiniteNumber(value.getTime());
  // What it gave instead is not asked for its own `toJSON`: a Map would be {}.
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return true;
  if (isArray(value)) {
    for (const item of value) if (losesSomething(item, budget)) return true;
    return false;
  }
  const names = keys(value);
  if (names.length === 0) {
    if (Symbol.iterator in value) return true;
    const prototype: unknown = getPrototypeOf(value);
    return prototype !== null && getPrototypeOf(prototype) !== null;
  }
  for (const name of names) if (losesSomething((value as Record<string, unknown>)[name], budget)) return true;
  return false;
}

/** Has values with this prototype noticed: `toJSON` is there only while a result is written, so that the plugin's own JSON stays as the language has it. */
export function watchInResults(prototype: object): void {
  const before = getOwnPropertyDescriptor(prototype, 'toJSON')?.value;
  defineProperty(prototype, 'toJSON', {
    configurable: true,
    get: () => (isWatching ? notice : before),
    set(this: object, value: unknown) {
      defineProperty(this, 'toJSON', { value, writable: true, enumerable: true, configurable: true });
    },
  });
}

function notice(): null {
  isOdd = true;
  return null;
}

function builtIn(): readonly object[] {
  const view = getPrototypeOf(Uint8Array.prototype);
  const iterator = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));
  const classes = [Map, Set, ArrayBuffer, DataView, Promise, RegExp, Error, BigInt, Function];
  return [view, iterator, ...classes.map(({ prototype }) => prototype)];
}
