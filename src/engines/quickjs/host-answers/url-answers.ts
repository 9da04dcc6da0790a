import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { AnswerNow } from './host-answer.ts';
import { readRequest } from './host-answer.ts';

const MAX_URL_CHARS = 1024 * 1024;
const MAX_QUERY_CHARS = 8 * MAX_URL_CHARS;

/** The order that wasm/guest/web/url.ts expects. */
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

const urlText = Type.String({ maxLength: MAX_URL_CHARS });
const parseRequest = Compile(Type.Object({ input: urlText, base: Type.Optional(urlText) }));
const setRequest = Compile(
  Type.Object({ href: urlText, name: Type.Union(settableNames.map((name) => Type.Literal(name))), value: urlText }),
);
const queryText = Compile(Type.String({ maxLength: MAX_QUERY_CHARS }));
const queryPairs = Compile(Type.Array(Type.Tuple([Type.String(), Type.String()]), { maxItems: 100_000 }));

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
