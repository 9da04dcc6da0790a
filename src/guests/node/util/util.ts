/** node:util, as far as it makes sense without streams and processes. */
import type { InspectOptions } from '../../cell/web/console/inspect.ts';
import { isDeepEqual } from '../assert/is-deep-equal.ts';
import { nodeError, wrongType } from '../node-error.ts';
import { formatLog, inspect as inspectValue } from './show.ts';
import * as types from './types.ts';

export { types };

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type Callback = (error: unknown, value?: unknown) => void;

declare const console: { warn(...values: unknown[]): void; debug(...values: unknown[]): void };

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences begin with one
const terminalSequence = /[\u001B\u009B][[\]()#;?]*(?:\d{1,4}(?:[;:]\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]/g;
const customPromisify = Symbol.for('nodejs.util.promisify.custom');

/** Also as it was once called, with `showHidden` and depth. */
function show(value: unknown, options?: InspectOptions | boolean, depth?: number | null): string {
  if (typeof options !== 'boolean') return inspectValue(value, options);
  return inspectValue(value, depth === undefined ? {} : { depth });
}

export const inspect = Object.assign(show, {
  custom: Symbol.for('nodejs.util.inspect.custom'),
  defaultOptions: { depth: 2 },
});

export function format(...values: unknown[]): string {
  return formatLog(values);
}

export function formatWithOptions(_options: object, ...values: unknown[]): string {
  return formatLog(values);
}

export const promisify = Object.assign(
  (original: AnyFunction): AnyFunction => {
    if (typeof original !== 'function') throw wrongType('original', 'of type function', original);
    const custom: unknown = Reflect.get(original, customPromisify);
    if (typeof custom === 'function') return (...args) => custom(...args);
    return function (...args) {
      return new Promise((resolve, reject) => {
        const settle: Callback = (error, value) => (error ? reject(error) : resolve(value));
        original.call(this, ...args, settle);
      });
    };
  },
  { custom: customPromisify },
);

export function callbackify(original: (...args: unknown[]) => Promise<unknown>): (...args: unknown[]) => void {
  return function (this: unknown, ...args) {
    const callback = args.pop();
    if (typeof callback !== 'function') throw wrongType('last argument', 'of type function', callback);
    const failed = (reason: unknown) =>
      callback(reason ?? nodeError(Error, 'ERR_FALSY_VALUE_REJECTION', 'Promise was rejected with a falsy value'));
    original.apply(this, args).then((value) => callback(null, value), failed);
  };
}

export function inherits(child: { prototype: object; super_?: unknown }, superConstructor: { prototype: object }): void {
  Object.defineProperty(child, 'super_', { value: superConstructor, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, superConstructor.prototype);
}

export function deprecate(original: AnyFunction, message: string): AnyFunction {
  let warned = false;
  return function (...args) {
    if (!warned) console.warn(`DeprecationWarning: ${message}`);
    warned = true;
    return original.apply(this, args);
  };
}

/** Debug sections are chosen by an environment variable in Node; here they are off. */
export function debuglog(): AnyFunction & { enabled: boolean } {
  return Object.assign(() => {}, { enabled: false });
}
export { debuglog as debug };

export function isDeepStrictEqual(left: unknown, right: unknown): boolean {
  return isDeepEqual(left, right);
}

export function stripVTControlCharacters(text: string): string {
  return String(text).replace(terminalSequence, '');
}

/** Logs have no colours: the text stays as it is. */
export function styleText(_format: unknown, text: string): string {
  return String(text);
}

export function toUSVString(text: string): string {
  return String(text).toWellFormed();
}

/** Places of the call stack; the sandbox tells them in `error.stack` alone. */
export function getCallSites(): object[] {
  return [];
}

export const isArray = Array.isArray;
export const TextEncoder: unknown = Reflect.get(globalThis, 'TextEncoder');
export const TextDecoder: unknown = Reflect.get(globalThis, 'TextDecoder');
