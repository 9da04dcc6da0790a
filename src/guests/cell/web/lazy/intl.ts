/** Intl: options and values cross to the host, whose own Intl does the work. */
import { askNow } from '../base.ts';

interface Setup {
  readonly locales: readonly string[] | undefined;
  readonly options: Readonly<Record<string, unknown>> | undefined;
}

const { parse, stringify } = JSON;

/** Methods of each service; a `*` marks those that are read as a bound function, as in `list.map(formatter.format)`. */
const services: Readonly<Record<string, string>> = {
  Collator: 'compare*',
  DateTimeFormat: 'format* formatToParts formatRange formatRangeToParts',
  DisplayNames: 'of',
  DurationFormat: 'format formatToParts',
  ListFormat: 'format formatToParts',
  NumberFormat: 'format* formatToParts formatRange formatRangeToParts',
  PluralRules: 'select selectRange',
  RelativeTimeFormat: 'format formatToParts',
  Segmenter: 'segment',
};

const intl: Record<string, unknown> = {
  getCanonicalLocales: (locales: unknown) =>
    askIntl('intl.list', { method: 'getCanonicalLocales', locales: listLocales(locales) ?? [] }),
  supportedValuesOf: (key: unknown) => askIntl('intl.list', { method: 'supportedValuesOf', key: String(key) }),
};
for (const [name, methods] of Object.entries(services)) intl[name] = createService(name, methods.split(' '));
Object.defineProperty(intl, Symbol.toStringTag, { value: 'Intl' });

export { intl as Intl };

function askIntl(op: string, request: Readonly<Record<string, unknown>>): unknown {
  const answer = parse(String(askNow(op, stringify(request)))) as { value?: unknown; error?: string; name?: string };
  if (answer.error !== undefined) throw new (answer.name === 'TypeError' ? TypeError : RangeError)(answer.error);
  return answer.value;
}

function createService(service: string, methods: readonly string[]): unknown {
  const setups = new WeakMap<object, Setup>();
  const ask = (self: object, method: string, args: readonly unknown[]): unknown => {
    const setup = setups.get(self);
    if (!setup) throw new TypeError(`Intl.${service}.${method} was called on something else`);
    return askIntl('intl.call', { service, method, ...setup, args });
  };
  // A function and not a class: NumberFormat, DateTimeFormat and Collator are also called without `new`.
  const Service = function (this: object, locales?: unknown, options?: object): object | undefined {
    if (!new.target) return Reflect.construct(Service, [locales, options]);
    setups.set(this, { locales: listLocales(locales), options: plainOptions(options) });
    ask(this, 'resolvedOptions', []);
    return undefined;
  };
  Object.defineProperty(Service, 'name', { value: service });
  Object.defineProperty(Service.prototype, Symbol.toStringTag, { value: `Intl.${service}` });
  define(Service, 'supportedLocalesOf', (locales: unknown) =>
    askIntl('intl.list', { method: 'supportedLocalesOf', service, locales: listLocales(locales) ?? [] }),
  );
  define(Service.prototype, 'resolvedOptions', function (this: object) {
    return ask(this, 'resolvedOptions', []);
  });
  for (const entry of methods) {
    const method = entry.replace('*', '');
    const run = (self: object, args: readonly unknown[]) => {
      const answer = ask(self, method, plainArguments(service, args));
      return method === 'segment' ? createSegments(String(args[0]), answer as Segment[]) : answer;
    };
    if (entry.endsWith('*')) {
      const get = function (this: object) {
        return (...args: unknown[]) => run(this, args);
      };
      Object.defineProperty(Service.prototype, method, { get, configurable: true });
    } else {
      define(Service.prototype, method, function (this: object, ...args: unknown[]) {
        return run(this, args);
      });
    }
  }
  return Service;
}

function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
}

function listLocales(locales: unknown): string[] | undefined {
  if (locales === undefined) return undefined;
  return Array.isArray(locales) ? locales.map(String) : [String(locales)];
}

function plainOptions(options: unknown): Record<string, unknown> | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  return Object.fromEntries(Object.entries(options).filter(([, value]) => /^(string|number|boolean)$/.test(typeof value)));
}

/** Arguments as JSON can carry them: dates as epoch ms, big and odd numbers as text, which Intl reads exactly. */
function plainArguments(service: string, args: readonly unknown[]): unknown[] {
  if (service === 'DateTimeFormat') {
    const dates = args.length === 0 ? [undefined] : args;
    return dates.slice(0, 2).map((date) => {
      const ms = date === undefined ? Date.now() : Number(date);
      if (Number.isNaN(ms)) throw new RangeError('Invalid time value');
      return ms;
    });
  }
  if (service === 'ListFormat') return [Array.from(args[0] as Iterable<unknown>, String)];
  if (service === 'DurationFormat') return [args[0]];
  return args
    .slice(0, 2)
    .map((value) => (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0) ? value : numberText(value)));
}

function numberText(value: unknown): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

type Segment = readonly [string, number, boolean | undefined];

function createSegments(input: string, segments: readonly Segment[]): object {
  const describe = ([segment, index, isWordLike]: Segment) =>
    isWordLike === undefined || isWordLike === null ? { segment, index, input } : { segment, index, input, isWordLike };
  return {
    containing(at = 0) {
      const found = segments.find(([segment, index]) => at >= index && at < index + segment.length);
      return found && describe(found);
    },
    *[Symbol.iterator]() {
      for (const segment of segments) yield describe(segment);
    },
  };
}

interface Described {
  readonly tag: string;
  readonly maximized: string;
  readonly minimized: string;
  readonly parts: Readonly<Record<string, unknown>>;
}

intl.Locale = class Locale {
  readonly #described: Described;

  constructor(tag: unknown, options?: object) {
    this.#described = askIntl('intl.locale', { tag: String(tag), options: plainOptions(options) }) as Described;
    for (const [name, value] of Object.entries(this.#described.parts)) define(this, name, value);
  }
  maximize(): Locale {
    return new Locale(this.#described.maximized);
  }
  minimize(): Locale {
    return new Locale(this.#described.minimized);
  }
  toString(): string {
    return this.#described.tag;
  }
};

/** `toLocaleString` and the other methods that the base puts on built-in prototypes. */
export function formatValue(value: unknown, method: string, args: readonly unknown[]): unknown {
  if (value === undefined || value === null) throw new TypeError(`${method} was called on ${value}`);
  if (value instanceof Date) return formatWith('date', numberText(value.getTime()), args);
  const primitive = Object(value).valueOf();
  if (typeof primitive === 'number' || typeof primitive === 'bigint')
    return formatWith(typeof primitive, numberText(primitive), args);
  const [first, ...rest] = args;
  return method === 'localeCompare'
    ? formatWith('string', String(value), rest, String(first))
    : formatWith('string', String(value), args);

  function formatWith(kind: string, text: string, [locales, options]: readonly unknown[], other?: string): unknown {
    const setup = { locales: listLocales(locales), options: plainOptions(options) };
    return askIntl('intl.value', { kind, method, value: text, other, ...setup });
  }
}
