import { listPairs, Pairs, readPairs } from '../pairs.ts';

const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
const BAD_VALUE = /[\0\r\n]|[^\0-\xff]/;
const EDGES = /^[\t\r\n ]+|[\t\r\n ]+$/g;

/** Makes headers refuse changes, as those of a fetched response do. */
export let freezeHeaders: (headers: Headers) => void;

/** Header names are case-insensitive, values of one name combine with ", ", except set-cookie. */
export class Headers extends Pairs<string> {
  readonly #values = new Map<string, string[]>();
  #frozen = false;

  static {
    freezeHeaders = (headers) => {
      headers.#frozen = true;
    };
  }

  constructor(init?: unknown) {
    super();
    if (init === undefined) return;
    if (typeof init !== 'object' || init === null) throw new TypeError('Headers expects an object, pairs or Headers');
    for (const [name, value] of readPairs(init, 'Headers')) this.append(name, value);
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
  *[listPairs](): IterableIterator<[string, string]> {
    for (const key of [...this.#values.keys()].sort()) {
      const values = this.#values.get(key) ?? [];
      if (key === 'set-cookie') for (const value of values) yield [key, value];
      else yield [key, values.join(', ')];
    }
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
