import { BoundedMap } from '../../../collections/bounded-map.ts';
import { type AnswerNow, asks } from './host-answer.ts';
import { HostRefusal } from './host-refusal.ts';
import { Shape } from './shape.ts';

const maxTextChars = 1024 * 1024;
const maxSegmentedChars = 100_000;
const maxFormatters = 64;

/** The methods of each service that a guest may call; their results are plain data. */
const services = {
  Collator: ['compare', 'resolvedOptions'],
  DateTimeFormat: ['format', 'formatToParts', 'formatRange', 'formatRangeToParts', 'resolvedOptions'],
  DisplayNames: ['of', 'resolvedOptions'],
  DurationFormat: ['format', 'formatToParts', 'resolvedOptions'],
  ListFormat: ['format', 'formatToParts', 'resolvedOptions'],
  NumberFormat: ['format', 'formatToParts', 'formatRange', 'formatRangeToParts', 'resolvedOptions'],
  PluralRules: ['select', 'selectRange', 'resolvedOptions'],
  RelativeTimeFormat: ['format', 'formatToParts', 'resolvedOptions'],
  Segmenter: ['segment', 'resolvedOptions'],
} as const satisfies Record<string, readonly string[]>;

type ServiceName = keyof typeof services;

const shortText = Shape.String({ maxLength: 200 });
const locales = Shape.Optional(Shape.Array(shortText, { maxItems: 20 }));
const options = Shape.Optional(
  Shape.Record(shortText, Shape.Union([shortText, Shape.Number(), Shape.Boolean(), Shape.Null()]), { maxProperties: 40 }),
);
const text = Shape.String({ maxLength: maxTextChars });
const argument = Shape.Union([
  text,
  Shape.Number(),
  Shape.Array(text, { maxItems: 10_000 }),
  Shape.Record(shortText, Shape.Number(), { maxProperties: 20 }),
]);

const callRequest = Shape.Object({
  service: Shape.Keys(services),
  method: shortText,
  locales,
  options,
  args: Shape.Array(argument, { maxItems: 2 }),
});
const valueRequest = Shape.Object({
  kind: Shape.Literals(['number', 'bigint', 'date', 'string']),
  method: Shape.Literals([
    'toLocaleString',
    'toLocaleDateString',
    'toLocaleTimeString',
    'localeCompare',
    'toLocaleUpperCase',
    'toLocaleLowerCase',
  ]),
  value: text,
  other: Shape.Optional(text),
  locales,
  options,
});
const listRequest = Shape.Object({
  method: Shape.Literals(['getCanonicalLocales', 'supportedLocalesOf', 'supportedValuesOf']),
  service: Shape.Optional(Shape.Keys(services)),
  locales,
  key: Shape.Optional(shortText),
});
const localeRequest = Shape.Object({ tag: shortText, options });

// Making a formatter costs 20 to 100 µs, using one costs 1; oldest first.
const formatters = new BoundedMap<string, object>(maxFormatters);

/** Intl by the host's own data. Each answer is `{value}`, or `{error, name}` for what Intl itself refuses. */
export const intlAnswers: Readonly<Record<string, AnswerNow>> = {
  'intl.call': asksIntl(callRequest, ({ service, method, locales: wanted, options: how, args }) => {
    const allowed: readonly string[] = services[service];
    if (!allowed.includes(method)) throw new HostRefusal('not-supported', `Intl.${service} has no such method.`);
    const formatter = findFormatter(service, wanted, how);
    const result: unknown = Reflect.apply(Reflect.get(formatter, method), formatter, args);
    return method === 'segment' ? listSegments(result, args[0]) : result;
  }),
  'intl.value': asksIntl(valueRequest, ({ kind, method, value: written, other, locales: wanted, options: how }) => {
    const value = readValue(kind, written);
    const args = other === undefined ? [wanted, how] : [other, wanted, how];
    return Reflect.apply(Reflect.get(Object(value), method), value, args);
  }),
  'intl.list': asksIntl(listRequest, ({ method, service, locales: wanted, key }) => {
    if (service !== undefined && method === 'supportedLocalesOf') {
      const owner = serviceClass(service);
      return Reflect.apply(Reflect.get(owner, method), owner, [wanted ?? []]);
    }
    return method === 'getCanonicalLocales'
      ? Intl.getCanonicalLocales(wanted)
      : Reflect.apply(Intl.supportedValuesOf, Intl, [key]);
  }),
  'intl.locale': asksIntl(localeRequest, ({ tag, options: how }) => describeLocale(Reflect.construct(Intl.Locale, [tag, how]))),
};

function asksIntl<Value>(shape: Shape<Value>, make: (request: Value) => unknown): AnswerNow {
  return asks(shape, (request) => {
    try {
      return JSON.stringify({ value: make(request) });
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError)
        return JSON.stringify({ name: error.name, error: error.message });
      throw error;
    }
  });
}

function findFormatter(service: ServiceName, wanted: readonly string[] | undefined, how: object | undefined): object {
  const key = JSON.stringify([service, wanted, how]);
  const made: object = formatters.get(key) ?? Reflect.construct(serviceClass(service), [wanted, how]);
  formatters.set(key, made);
  return made;
}

function serviceClass(service: ServiceName): new (...args: unknown[]) => object {
  return Reflect.get(Intl, service);
}

function listSegments(segments: unknown, input: unknown): unknown[] {
  if (typeof input !== 'string' || input.length > maxSegmentedChars) {
    throw new RangeError(`Intl.Segmenter takes a text of ${maxSegmentedChars} characters at most`);
  }
  const listed: unknown[] = [];
  for (const { segment, index, isWordLike } of segments as Intl.Segments) listed.push([segment, index, isWordLike]);
  return listed;
}

function readValue(kind: 'number' | 'bigint' | 'date' | 'string', value: string): unknown {
  if (kind === 'number') return Number(value);
  if (kind === 'date') return new Date(Number(value));
  if (kind === 'string') return value;
  if (value.length > 10_000) throw new RangeError('A BigInt of more than 10000 digits cannot be formatted');
  return BigInt(value);
}

function describeLocale(locale: Intl.Locale): Record<string, unknown> {
  const { baseName, language, script, region, calendar, collation, hourCycle, caseFirst, numeric, numberingSystem } = locale;
  return {
    tag: locale.toString(),
    maximized: locale.maximize().toString(),
    minimized: locale.minimize().toString(),
    parts: { baseName, language, script, region, calendar, collation, hourCycle, caseFirst, numeric, numberingSystem },
  };
}
