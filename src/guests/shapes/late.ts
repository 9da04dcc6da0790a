/** What a foreign tool file reaches for while it is loaded, when there is neither an environment nor the library it imports. */

type Json = Record<string, unknown>;

interface CallContext extends Json {
  readonly env?: { readonly get: (name: string) => unknown };
}

let isLoading = true;
let current: CallContext | undefined;

/** From here on what is not there refuses by name instead of letting itself be passed around. */
export function endLoading(): void {
  isLoading = false;
}

export function isLoadingFile(): boolean {
  return isLoading;
}

/** The context of the call that runs, from which late values are read. */
export function setCurrent(context: unknown): void {
  current = isRecord(context) ? (context as CallContext) : undefined;
}

/** The context of the call that runs. */
export function currentContext(): CallContext | undefined {
  return current;
}

/**
 * Stands for a part of a library that no plugin needs. While the file loads it may be called, constructed and taken apart;
 * in a call it throws a sentence with its name.
 */
export function absentPart(name: string): unknown {
  return new Proxy(
    // Constructible, and without properties of its own that a proxy would have to show.
    function refuse() {},
    {
      get(_target, key) {
        if (key === 'then' || key === '__esModule' || key === '~standard') return undefined;
        if (key === Symbol.toPrimitive) return () => name;
        if (key === Symbol.iterator) return function* () {};
        if (key === 'prototype') return Object.prototype;
        return typeof key === 'symbol' ? undefined : absentPart(`${name}.${key}`);
      },
      set: () => true,
      has: () => false,
      apply: (_target, _owner, args) => refuseLate(name, args),
      construct: () => refuseLate(name) as object,
    },
  );
}

/** Functions that a file handed to what is absent, such as the routes of a web server. */
export const handedOver: ((...args: unknown[]) => unknown)[] = [];
const maxHandedOver = 50;

function refuseLate(name: string, args: readonly unknown[] = []): unknown {
  if (isLoading) {
    for (const each of args) if (typeof each === 'function' && handedOver.length < maxHandedOver) handedOver.push(each as never);
    return absentPart(`${name}()`);
  }
  throw Object.assign(
    new Error(`${name} is not there: a plugin has the sandbox and its context, not the host of this tool file.`),
    {
      name: 'NotAvailable',
    },
  );
}

/** A module whose known names are those given, and whose other names are absent; as a whole it may be called, too. */
export function standIn(label: string, known: Json): Json {
  const rest = absentPart(label) as object;
  const module = Object.defineProperties(function module() {}, Object.getOwnPropertyDescriptors(known));
  return new Proxy(module as unknown as Json, {
    get: (_target, key) => (Object.hasOwn(known, key) ? known[String(key)] : Reflect.get(rest, key)),
    // A bundler copies the names that it sees and looks for the others here.
    getPrototypeOf: () => rest,
    apply: (_target, _owner, args) => Reflect.apply(rest as never, undefined, args),
    construct: (_target, args) => Reflect.construct(rest as never, args) as object,
  });
}

/** The `process` of a tool file where the engine has none. */
export function installProcess(exit: () => void): void {
  const holder = globalThis as { process?: unknown };
  holder.process ??= standIn('process', {
    env: environment,
    argv: [],
    platform: 'linux',
    cwd: () => '/',
    on: () => undefined,
    exit,
  });
}

/** `process.env` of a tool file: what is read while it loads becomes a text that is looked up when it is used. */
export const environment: Json = new Proxy({} as Json, {
  get: (_target, key) => (typeof key === 'symbol' ? undefined : isLoading ? lateText(key) : readEnvironment(key)),
  has: (_target, key) => typeof key === 'string',
});

function readEnvironment(name: string): unknown {
  try {
    return current?.env?.get(name) ?? undefined;
  } catch {
    // Not granted: for the file it is not set, and the call says which grant it missed.
    return undefined;
  }
}

function lateText(name: string): unknown {
  const read = () => String(readEnvironment(name) ?? '');
  return new Proxy(Object(name) as object, {
    get(_target, key) {
      if (key === Symbol.toPrimitive || key === 'toString' || key === 'valueOf' || key === 'toJSON') return read;
      if (key === 'then') return undefined;
      const text = isLoading ? '' : read();
      const value: unknown = Reflect.get(Object(text) as object, key);
      return typeof value === 'function' ? value.bind(text) : value;
    },
  });
}

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
