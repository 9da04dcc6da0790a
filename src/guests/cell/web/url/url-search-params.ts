import { askText } from '../bytes.ts';
import { listPairs, Pairs, readPairs } from '../pairs.ts';

type Pair = [string, string];

/** Puts the pairs of a new query into params that belong to a URL. */
export let refreshParams: (params: URLSearchParams, query: string) => void;

/** The pairs of a query string. */
export function parseQuery(query: string): Pair[] {
  return query === '' || query === '?' ? [] : (askText('query.parse', query) as unknown as Pair[]);
}

export class URLSearchParams extends Pairs<string> {
  #pairs: Pair[];
  readonly #changed: ((query: string) => void) | undefined;

  static {
    refreshParams = (params, query) => {
      params.#pairs = parseQuery(query);
    };
  }

  /** `changed` is how a URL hears of changes to its own params. */
  constructor(init: unknown = '', changed?: (query: string) => void) {
    super();
    this.#pairs = toPairs(init);
    this.#changed = changed;
  }

  get size(): number {
    return this.#pairs.length;
  }
  append(name: string, value: string): void {
    this.#pairs.push(pair(name, value));
    this.#note();
  }
  delete(name: string, value?: string): void {
    const keep = (one: Pair) => one[0] !== text(name) || (value !== undefined && one[1] !== text(value));
    this.#pairs = this.#pairs.filter(keep);
    this.#note();
  }
  get(name: string): string | null {
    return this.#pairs.find((one) => one[0] === text(name))?.[1] ?? null;
  }
  getAll(name: string): string[] {
    return this.#pairs.filter((one) => one[0] === text(name)).map((one) => one[1]);
  }
  has(name: string, value?: string): boolean {
    return this.#pairs.some((one) => one[0] === text(name) && (value === undefined || one[1] === text(value)));
  }
  set(name: string, value: string): void {
    const first = this.#pairs.find((one) => one[0] === text(name));
    if (!first) this.#pairs.push(pair(name, value));
    else {
      first[1] = text(value);
      this.#pairs = this.#pairs.filter((one) => one === first || one[0] !== first[0]);
    }
    this.#note();
  }
  sort(): void {
    this.#pairs.sort((left, right) => (left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0));
    this.#note();
  }
  override toString(): string {
    return this.#pairs.length === 0 ? '' : String(askText('query.write', this.#pairs));
  }

  *[listPairs](): IterableIterator<Pair> {
    for (let index = 0; index < this.#pairs.length; index++) yield [...(this.#pairs[index] as Pair)];
  }
  #note(): void {
    this.#changed?.(this.toString());
  }
}

function toPairs(init: unknown): Pair[] {
  if (typeof init !== 'object' || init === null) return parseQuery(String(init));
  return readPairs(init, 'URLSearchParams').map(([name, value]) => pair(name, value));
}

function pair(name: unknown, value: unknown): Pair {
  return [text(name), text(value)];
}

function text(value: unknown): string {
  return String(value).toWellFormed();
}
