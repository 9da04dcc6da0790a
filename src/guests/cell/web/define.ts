/** How globals come to be: at once, or when a plugin first touches them. */
import { askNow } from '../border.ts';
import type { Internals } from './internals.ts';

// biome-ignore lint/security/noGlobalEval: lazy modules are the host's own text, evaluated inside the sandbox
const indirectEval = eval;
const { defineProperty } = Object;

type Exports = Record<string, unknown>;

/** How a lazy module hands over its exports. */
export type Provide = (create: (shared: Internals) => Record<string, unknown>) => void;

const loaded: Record<string, Exports> = {};
let internals: Internals;

/** Hands over what lazy modules share with the base. Called once, before the first lazy global can be touched. */
export function provideInternals(provided: Internals): void {
  internals = provided;
}

/** Defines a global the way platforms do: writable, configurable, not enumerable; classes get their name and tag. */
export function defineGlobal(name: string, value: unknown): void {
  if (typeof value === 'function') {
    // Minifying renames functions; plugins see these names in error messages and `constructor.name`.
    defineProperty(value, 'name', { value: name, configurable: true });
    if (value.prototype && !(Symbol.toStringTag in value.prototype)) {
      defineProperty(value.prototype, Symbol.toStringTag, { value: name, configurable: true });
    }
  }
  defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

/** Defines globals whose source text stays with the host until one of them is read. */
export function defineLazyGlobals(moduleName: string, names: readonly string[]): void {
  for (const name of names) {
    defineProperty(globalThis, name, {
      configurable: true,
      get() {
        const value = loadModule(moduleName)[name];
        defineGlobal(name, value);
        return value;
      },
      set: (value: unknown) => defineGlobal(name, value),
    });
  }
}

/** Evaluates a lazy module once. Its text calls `provide` with the function that makes its exports. */
export function loadModule(name: string): Exports {
  const present = loaded[name];
  if (present) return present;
  const evaluate = indirectEval(`(provide)=>{${String(askNow('module', name))}\n}`) as (provide: Provide) => void;
  let made: Exports = {};
  evaluate((create) => {
    made = create(internals);
  });
  loaded[name] = made;
  return made;
}

/** The module if a plugin has touched it: when not, no value of its classes can exist. */
export function findModule(name: string): Exports | undefined {
  return loaded[name];
}
