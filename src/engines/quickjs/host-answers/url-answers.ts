import { type AnswerNow, readRequest } from './host-answer.ts';
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

const urlText = Shape.String({ maxLength: maxUrlChars });
const parseRequest = Shape.Object({ input: urlText, base: Shape.Optional(urlText) });
const setRequest = Shape.Object({ href: urlText, name: Shape.Literals(settableNames), value: urlText });
const queryText = Shape.String({ maxLength: maxQueryChars });
const queryPairs = Shape.Array(Shape.Pair(Shape.String(), Shape.String()), { maxItems: 100_000 });

/** URL and query strings by the host's own implementation. */
export const urlAnswers: Readonly<Record<string, AnswerNow>> = {
  'url.parse': (payload) => {
    const { input, base } = readRequest(parseRequest, payload, 'url.parse');
    return listParts(URL.parse(input, base));
  },
  'url.set': (payload) => {
    const { href, name, value } = readRequest(setRequest, payload, 'url.set');
    const url = URL.parse(href);
    if (!url) return undefined;
    try {
      Reflect.set(url, name, value);
    } catch {
      // Only `href` throws, when the new value is no URL.
      return undefined;
    }
    return listParts(url);
  },
  'query.parse': (payload) => JSON.stringify([...new URLSearchParams(readRequest(queryText, payload, 'query.parse'))]),
  'query.write': (payload) => JSON.stringify(new URLSearchParams(readRequest(queryPairs, payload, 'query.write')).toString()),
};

function listParts(url: URL | null): string | undefined {
  return url ? JSON.stringify(partNames.map((name) => url[name])) : undefined;
}
