/** How Headers, FormData and URLSearchParams read their pairs: by none of their own methods, which a class above may have changed. */
export const listPairs = Symbol('pairs');

/** What these three share: pairs of name and value, one after the other. */
export abstract class Pairs<Value> {
  abstract [listPairs](): IterableIterator<[string, Value]>;

  entries(): IterableIterator<[string, Value]> {
    return this[listPairs]();
  }
  *keys(): IterableIterator<string> {
    for (const [name] of this[listPairs]()) yield name;
  }
  *values(): IterableIterator<Value> {
    for (const [, value] of this[listPairs]()) yield value;
  }
  forEach(callback: (value: Value, name: string, pairs: this) => void, receiver?: unknown): void {
    for (const [name, value] of this[listPairs]()) callback.call(receiver, value, name, this);
  }
  [Symbol.iterator](): IterableIterator<[string, Value]> {
    return this[listPairs]();
  }
}

/** The pairs that a constructor of them was given: an object, pairs, or another of its kind. */
export function readPairs(init: object, name: string): (readonly [unknown, unknown])[] {
  const entries: Iterable<unknown> = Symbol.iterator in init ? (init as Iterable<unknown>) : Object.entries(init);
  return Array.from(entries, (entry) => {
    const [key, value, ...more] = entry as unknown[];
    if (value === undefined || more.length > 0) throw new TypeError(`${name} expects pairs of name and value`);
    return [key, value] as const;
  });
}
