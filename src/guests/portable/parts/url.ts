/** URL and query strings by a parser that is part of the module. */
import URLParser from 'core-js-pure/actual/url/index.js';
import Query from 'core-js-pure/actual/url-search-params/index.js';

const { parse, stringify } = JSON;
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

/** The answers by operation, as in the daemon. */
export const answers: Readonly<Record<string, (payload: string) => string | undefined>> = {
  'url.parse': (payload) => {
    const { input, base } = parse(payload);
    return listParts(() => new URLParser(input, base));
  },
  'url.set': (payload) => {
    const { href, name, value } = parse(payload);
    return listParts(() => {
      const url = new URLParser(href);
      Reflect.set(url, name, value);
      return url;
    });
  },
  'query.parse': (payload) => stringify([...new Query(parse(payload))]),
  'query.write': (payload) => stringify(new Query(parse(payload)).toString()),
};

function listParts(make: () => URLParser): string | undefined {
  try {
    const url = make();
    return stringify(partNames.map((name) => url[name]));
  } catch {
    return undefined;
  }
}
