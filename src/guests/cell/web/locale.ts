/** `toLocaleString` and its kin: the engine ignores locales, so these load Intl when called. */
import { loadModule } from './define.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Replaces the methods of built-in prototypes that depend on the locale. */
export function installLocaleMethods(): void {
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
      Object.defineProperty(method, 'name', { value: name });
      Object.defineProperty(prototype, name, { value: method, writable: true, configurable: true });
    }
  }
}
