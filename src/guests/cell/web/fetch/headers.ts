const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
const BAD_VALUE = /[\0\r\n]|[^\0-\xff]/;
const EDGES = /^[\t\r\n ]+|[\t\r\n ]+$/g;

/** Makes headers refuse changes, as those of a fetched response do. */
export let freezeHeaders: (headers: Headers) => void;

/** Header names are case-insensitive, values of one name combine with ", ", except set-cookie. */
export class Headers {
  readonly #values = new Map<string, string[]>();
  #frozen = false;

  static {
    freezeHeaders = (headers) => {
      headers.#frozen = true;
    };
  }

  constructor(init?: unknown) {
    if (init === undefined) return;
    if (typeof init !== 'object' || init === null) throw new TypeError('Headers expects an object, pairs or Headers');
    const entries: Iterable<unknown> = Symbol.iterator in init ? (init as Iterable<unknown>) : Object.entries(init);
    for (const entry of entries) {
      const [name, value, ...more] = entry as unknown[];
      if (value === undefined || more.length > 0) throw new TypeError('Headers expects pairs of name and value');
      this.append(name, value);
    }
  }

  append(name: unknown, value: unknown): void {
    const key = this.#check(name, true);
    const text = checkValue(key, value);
    const present = this.#values.get(key);
    if (present) present.push(text);
    else this.#values.set(key, [text]);
  }
  set(name: unknown, value: unknown): void {
    const key = this.#check(name, true);
    this.#values.set(key, [checkValue(key, value)]);
  }
  delete(name: unknown): void {
    this.#values.delete(this.#check(name, true));
  }
  get(name: unknown): string | null {
    return this.#values.get(this.#check(name))?.join(', ') ?? null;
  }
  has(name: unknown): boolean {
    return this.#values.has(this.#check(name));
  }
  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }
  forEach(callback: (value: string, name: string, headers: Headers) => void, receiver?: unknown): void {
    for (const [name, value] of this) callback.call(receiver, value, name, this);
  }
  *entries(): IterableIterator<[string, string]> {
    for (const key of [...this.#values.keys()].sort()) {
      const values = this.#values.get(key) ?? [];
      if (key === 'set-cookie') for (const value of values) yield [key, value];
      else yield [key, values.join(', ')];
    }
  }
  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name;
  }
  *values(): IterableIterator<string> {
    for (const [, value] of this) yield value;
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  #check(name: unknown, changing = false): string {
    const text = String(name);
    if (!NAME.test(text)) throw new TypeError(`"${text}" is not a valid header name`);
    if (changing && this.#frozen) throw new TypeError('These headers cannot be changed; copy them with new Headers(headers)');
    return text.toLowerCase();
  }
}

function checkValue(name: string, value: unknown): string {
  const text = String(value).replace(EDGES, '');
  if (BAD_VALUE.test(text)) throw new TypeError(`The value of the header "${name}" has characters that are not allowed`);
  return text;
}
