/** What the base hands to lazy modules, so that they neither repeat its code nor depend on globals a plugin may change. */
import type { askNow } from '../border.ts';
import type { watchInResults } from '../result.ts';
import type { decodeText, encodeText, joinBytes, toBytes } from './bytes.ts';
import type { DOMException } from './dom-exception.ts';
import type { TextDecoder } from './text-coding.ts';
import type { parseQuery } from './url/url-search-params.ts';

/** Base parts for lazy modules. */
export interface Internals {
  readonly askNow: typeof askNow;
  readonly DOMException: typeof DOMException;
  readonly TextDecoder: typeof TextDecoder;
  readonly encodeText: typeof encodeText;
  readonly decodeText: typeof decodeText;
  readonly parseQuery: typeof parseQuery;
  readonly joinBytes: typeof joinBytes;
  readonly toBytes: typeof toBytes;
  readonly randomUUID: () => string;
  readonly loadModule: (name: string) => Record<string, unknown>;
  readonly watchInResults: typeof watchInResults;
}
