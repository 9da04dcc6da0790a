/** `process.env`: the variables that were granted. */
import type { askNow as AskNow } from '../border.ts';

/** A name that was not granted is as good as not set. What a plugin writes stays with it; `own` is there from the start. */
export function createEnvironment(
  askNow: typeof AskNow,
  own: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  const written: Record<string, string | undefined> = Object.assign(Object.create(null), own);
  const read = (name: string): string | undefined => {
    if (name in written) return written[name];
    try {
      const answer = askNow('env.get', name);
      return typeof answer === 'string' ? String(JSON.parse(answer)) : undefined;
    } catch {
      // Denied, which code that looks at many names must not stumble over.
      return undefined;
    }
  };
  const list = (): string[] => {
    const granted: string[] = JSON.parse(String(askNow('env.names', '') ?? '[]'));
    return [...new Set([...granted, ...Object.keys(written)])].filter((name) => read(name) !== undefined);
  };
  return new Proxy(Object.create(null), {
    get: (_target, name) => (typeof name === 'string' ? read(name) : undefined),
    has: (_target, name) => typeof name === 'string' && read(name) !== undefined,
    set(_target, name, value) {
      written[String(name)] = String(value);
      return true;
    },
    defineProperty(_target, name, { value }) {
      written[String(name)] = String(value);
      return true;
    },
    deleteProperty(_target, name) {
      written[String(name)] = undefined;
      return true;
    },
    ownKeys: list,
    getOwnPropertyDescriptor(_target, name) {
      const value = typeof name === 'string' ? read(name) : undefined;
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  });
}
