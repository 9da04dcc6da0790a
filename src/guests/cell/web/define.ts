/** How globals come to be: at once, or when a plugin first touches them. */
import { askNow } from '../border.ts';

// biome-ignore lint/security/noGlobalEval: lazy modules are the host's own text, evaluated inside the sandbox
const indirectEval = eval;
const { defineProperty } = Object;

/** Parts of the web API whose text stays with the host until a guest first needs one of them: the files of `lazy`, by their names. */
interface LazyModules {
  buffer: typeof import('./lazy/buffer.ts');
  files: typeof import('./lazy/files.ts');
  inspect: typeof import('./lazy/inspect.ts');
  intl: typeof import('./lazy/intl.ts');
  messages: typeof import('./lazy/messages.ts');
  process: typeof import('./lazy/process.ts');
  results: typeof import('./lazy/results.ts');
  streams: typeof import('./lazy/streams.ts');
  subtle: typeof import('./lazy/subtle.ts');
}

const loaded: Partial<LazyModules> = {};
let base: object;

/** Hands over what lazy modules share with the base. Called once, before the first lazy global can be touched. */
export function provideBase(provided: object): void {
  base = provided;
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
export function defineLazyGlobals<Name extends keyof LazyModules>(
  moduleName: Name,
  names: readonly (keyof LazyModules[Name] & string)[],
): void {
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

/** Evaluates a lazy module once; its text takes from `base` and returns what it exports. */
export function loadModule<Name extends keyof LazyModules>(name: Name): LazyModules[Name] {
  const present = loaded[name];
  if (present) return present;
  const evaluate = indirectEval(`(base)=>{"use strict";${String(askNow('module', name))}\n}`) as (
    shared: object,
  ) => LazyModules[Name];
  const made = evaluate(base);
  loaded[name] = made;
  return made;
}

/** The module if a plugin has touched it: when not, no value of its classes can exist. */
export function findModule<Name extends keyof LazyModules>(name: Name): Partial<LazyModules>[Name] {
  return loaded[name];
}
