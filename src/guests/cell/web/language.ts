/** What the language has and the engine lacks. */
import { loadModule } from './define.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Completes the built-in objects. Called once, when the base image is built. */
export function completeLanguage(): void {
  // The engine of built modules has them. `using` becomes calls of the methods of these symbols.
  if (!('fromAsync' in Array)) define(Array, 'fromAsync', fromAsync);
  for (const name of ['dispose', 'asyncDispose']) if (!(name in Symbol)) define(Symbol, name, Symbol(`Symbol.${name}`));
  installLocaleMethods();
}

async function fromAsync(
  items: Iterable<unknown> | AsyncIterable<unknown> | ArrayLike<unknown>,
  change?: (item: unknown, index: number) => unknown,
  self?: unknown,
): Promise<unknown[]> {
  if (change !== undefined && typeof change !== 'function') throw new TypeError('Array.fromAsync expects a function to map with');
  const made: unknown[] = [];
  const isIterable = Symbol.asyncIterator in Object(items) || Symbol.iterator in Object(items);
  for await (const item of isIterable ? (items as AsyncIterable<unknown>) : Array.from(items as ArrayLike<unknown>)) {
    made.push(change ? await change.call(self, item, made.length) : item);
  }
  return made;
}

/** `toLocaleString` and its kin: the engine ignores locales, so these load Intl when called. */
function installLocaleMethods(): void {
  const methods: readonly (readonly [object, readonly string[]])[] = [
    [Number.prototype, ['toLocaleString']],
    [BigInt.prototype, ['toLocaleString']],
    [Date.prototype, ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']],
    [String.prototype, ['localeCompare', 'toLocaleUpperCase', 'toLocaleLowerCase']],
  ];
  for (const [prototype, names] of methods) {
    for (const name of names) {
      const method: Method = function (...args) {
        return loadModule('intl').formatValue(this, name, args);
      };
      define(prototype, name, method);
    }
  }
}

function define(holder: object, name: string, value: unknown): void {
  if (typeof value === 'function') Object.defineProperty(value, 'name', { value: name });
  Object.defineProperty(holder, name, { value, writable: true, configurable: true });
}
