/** URL over the host's own parser: the guest keeps the parts that the host returned. */
import { askText } from '../bytes.ts';
import { refreshParams, URLSearchParams } from './url-search-params.ts';

/** The order in which the host returns the parts. */
const partNames = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
];
const SEARCH = 9;

export class URL {
  #parts: readonly string[];
  #params: URLSearchParams | undefined;
  declare href: string;
  declare search: string;

  static {
    partNames.forEach((name, index) => {
      const accessors: PropertyDescriptor & ThisType<URL> = {
        configurable: true,
        enumerable: true,
        get() {
          return this.#parts[index];
        },
        set(value: unknown) {
          this.#change(name, value);
          if (this.#params) refreshParams(this.#params, this.search);
        },
      };
      if (name === 'origin') delete accessors.set;
      Object.defineProperty(URL.prototype, name, accessors);
    });
  }

  constructor(input: unknown, base?: unknown) {
    const parts = parseUrl(input, base);
    if (!parts) throw invalidUrl(input, base);
    this.#parts = parts;
  }

  get searchParams(): URLSearchParams {
    this.#params ??= new URLSearchParams(this.#parts[SEARCH], (query) => this.#change('search', query));
    return this.#params;
  }
  toString(): string {
    return this.href;
  }
  toJSON(): string {
    return this.href;
  }

  static parse(input: unknown, base?: unknown): URL | null {
    try {
      return new URL(input, base);
    } catch {
      return null;
    }
  }
  static canParse(input: unknown, base?: unknown): boolean {
    return parseUrl(input, base) !== undefined;
  }

  #change(name: string, value: unknown): void {
    const parts = askText('url.set', { href: this.href, name, value: String(value) }) as readonly string[] | undefined;
    if (!parts) throw invalidUrl(value);
    this.#parts = parts;
  }
}

function parseUrl(input: unknown, base: unknown): readonly string[] | undefined {
  const request = base === undefined ? { input: String(input) } : { input: String(input), base: String(base) };
  return askText('url.parse', request) as readonly string[] | undefined;
}

function invalidUrl(input: unknown, base?: unknown): TypeError {
  const against = base === undefined ? '' : ` against "${String(base)}"`;
  return Object.assign(new TypeError(`Invalid URL: "${String(input)}"${against}`), {
    code: 'ERR_INVALID_URL',
    input: String(input),
  });
}
