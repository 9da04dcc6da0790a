import type { BlobLike, FileLike } from './blob.ts';

type Value = string | FileLike;

/** A FormData as the other parts of the module see it. */
export interface FormDataLike extends Iterable<[string, Value]> {
  append(name: unknown, value: unknown, filename?: string): void;
}

/** FormData: pairs in the order in which they were added; a Blob becomes a File. */
export function createFormDataClass(
  Blob: abstract new (...args: never[]) => BlobLike,
  File: new (parts: Iterable<unknown>, name: string, options?: { type?: string }) => FileLike,
): new () => FormDataLike {
  return class FormData implements FormDataLike {
    #pairs: [string, Value][] = [];

    append(name: unknown, value: unknown, filename?: string): void {
      this.#pairs.push([text(name), toValue(value, filename)]);
    }
    set(name: unknown, value: unknown, filename?: string): void {
      const made: [string, Value] = [text(name), toValue(value, filename)];
      const at = this.#pairs.findIndex(([other]) => other === made[0]);
      if (at < 0) this.#pairs.push(made);
      else
        this.#pairs = this.#pairs
          .map((pair, index) => (index === at ? made : pair))
          .filter((pair) => pair === made || pair[0] !== made[0]);
    }
    delete(name: unknown): void {
      this.#pairs = this.#pairs.filter(([other]) => other !== text(name));
    }
    get(name: unknown): Value | null {
      return this.#pairs.find(([other]) => other === text(name))?.[1] ?? null;
    }
    getAll(name: unknown): Value[] {
      return this.#pairs.filter(([other]) => other === text(name)).map(([, value]) => value);
    }
    has(name: unknown): boolean {
      return this.#pairs.some(([other]) => other === text(name));
    }
    forEach(callback: (value: Value, name: string, form: unknown) => void, receiver?: unknown): void {
      for (const [name, value] of this) callback.call(receiver, value, name, this);
    }
    *entries(): IterableIterator<[string, Value]> {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    *keys(): IterableIterator<string> {
      for (const [name] of this.#pairs) yield name;
    }
    *values(): IterableIterator<Value> {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator](): IterableIterator<[string, Value]> {
      return this.entries();
    }
  };

  function toValue(value: unknown, filename: string | undefined): Value {
    if (!(value instanceof Blob)) return text(value);
    if (value instanceof File && filename === undefined) return value;
    return new File([value], filename ?? 'blob', { type: value.type });
  }
}

function text(value: unknown): string {
  return String(value).toWellFormed();
}
