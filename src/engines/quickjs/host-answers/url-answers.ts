import { type AnswerNow, asks, orNothing } from './host-answer.ts';
import { Shape } from './shape.ts';

const maxUrlChars = 1024 * 1024;
const maxQueryChars = 8 * maxUrlChars;

/** The order that src/guests/cell/web/url/url.ts expects. */
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
] as const;
const settableNames = partNames.filter((name) => name !== 'origin');

const url = Shape.String({ maxLength: maxUrlChars });
const setting = Shape.Object({ href: url, name: Shape.Literals(settableNames), value: url });
const pairs = Shape.Array(Shape.Pair(Shape.String(), Shape.String()), { maxItems: 100_000 });

/** URL and query strings by the host's own implementation. */
export const urlAnswers: Readonly<Record<string, AnswerNow>> = {
  'url.parse': asks(Shape.Object({ input: url, base: Shape.Optional(url) }), ({ input, base }) =>
    listParts(URL.parse(input, base)),
  ),
  'url.set': asks(setting, ({ href, name, value }) =>
    orNothing(() => {
      const changed = URL.parse(href);
      // Only `href` throws, when the new value is no URL.
      if (changed) Reflect.set(changed, name, value);
      return listParts(changed);
    }),
  ),
  'query.parse': asks(Shape.String({ maxLength: maxQueryChars }), (query) => JSON.stringify([...new URLSearchParams(query)])),
  'query.write': asks(pairs, (entries) => JSON.stringify(new URLSearchParams(entries).toString())),
};

function listParts(parsed: URL | null): string | undefined {
  return parsed ? JSON.stringify(partNames.map((name) => parsed[name])) : undefined;
}
