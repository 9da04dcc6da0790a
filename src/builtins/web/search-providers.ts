import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SearchProviderName } from '../../config/settings/search-settings.ts';
import type { ToolRequest } from '../../tools/hosted/capability-calls.ts';

/** What is looked for. */
export interface SearchQuestion {
  readonly query: string;
  readonly limit: number;
}

/** One thing found. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** Somebody who searches the web. */
export interface SearchProvider {
  /** Where it is asked when the config names no address. */
  readonly url: string;
  /** The header that holds its key, in lower case. */
  readonly keyHeader: string;
  readonly writeKey: (key: string) => string;
  /** The request without the key. */
  readonly ask: (base: string, question: SearchQuestion) => Pick<ToolRequest, 'url' | 'method' | 'headers' | 'body'>;
  /** What it found; undefined when that is no answer of this provider. */
  readonly read: (answer: unknown) => SearchHit[] | undefined;
}

const text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const item = Type.Object({ url: Type.String(), title: text, content: text, description: text });
const isItem = Compile(item);
const isList = Compile(Type.Object({ results: Type.Array(Type.Unknown()) }));
const isBrave = Compile(
  Type.Object({ type: Type.Literal('search'), web: Type.Optional(Type.Object({ results: Type.Array(Type.Unknown()) })) }),
);
const accept: [string, string] = ['accept', 'application/json'];

/** All providers. */
export const searchProviders: Readonly<Record<SearchProviderName, SearchProvider>> = {
  searxng: {
    url: '',
    keyHeader: 'authorization',
    writeKey: (key) => `Bearer ${key}`,
    ask: (base, { query }) => ({
      url: `${trimBase(base)}/search?${new URLSearchParams({ q: query, format: 'json' })}`,
      method: 'GET',
      headers: [accept],
    }),
    read: (answer) => (isList.Check(answer) ? readHits(answer.results) : undefined),
  },
  brave: {
    url: 'https://api.search.brave.com',
    keyHeader: 'x-subscription-token',
    writeKey: (key) => key,
    ask: (base, { query, limit }) => ({
      url: `${trimBase(base)}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(limit), text_decorations: 'false' })}`,
      method: 'GET',
      headers: [accept],
    }),
    read: (answer) => (isBrave.Check(answer) ? readHits(answer.web?.results ?? []) : undefined),
  },
  tavily: {
    url: 'https://api.tavily.com',
    keyHeader: 'authorization',
    writeKey: (key) => `Bearer ${key}`,
    ask: (base, { query, limit }) => ({
      url: `${trimBase(base)}/search`,
      method: 'POST',
      headers: [accept, ['content-type', 'application/json']],
      body: Buffer.from(JSON.stringify({ query, max_results: limit })),
    }),
    read: (answer) => (isList.Check(answer) ? readHits(answer.results) : undefined),
  },
};

function trimBase(base: string): string {
  return base.replace(/\/+$/, '');
}

/** Items that are none are left out, and texts are cut: what stands in a list of hits is written by strangers. */
function readHits(items: readonly unknown[]): SearchHit[] {
  return items.flatMap((each) => {
    if (!isItem.Check(each)) return [];
    const { url, title, content, description } = each;
    const address = url.length > 2000 ? null : URL.parse(url);
    if (address === null || !/^https?:$/.test(address.protocol)) return [];
    return [{ title: shorten(title, 300), url: address.href, snippet: shorten(content ?? description, 1000) }];
  });
}

function shorten(said: string | null | undefined, maxChars: number): string {
  return (said ?? '').slice(0, maxChars).toWellFormed();
}
