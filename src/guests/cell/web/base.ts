/**
 * What lazy modules take of the base: in them these are the base's own parts, so that they neither repeat its code nor depend
 * on globals a plugin may change.
 */
export { askNow } from '../border.ts';
export { performance } from '../clock.ts';
export { watchInResults } from '../result.ts';
export { atob, btoa, decodeText, encodeText, joinBytes, toBinary, toBytes } from './bytes.ts';
export { console } from './console/console.ts';
export { inspect, label } from './console/inspect.ts';
export { randomUUID } from './crypto.ts';
export { findModule, loadModule } from './define.ts';
export { DOMException } from './dom-exception.ts';
export { Event, EventTarget } from './event.ts';
export { listPairs, Pairs } from './pairs.ts';
export { TextDecoder } from './text-coding.ts';
export { queueMicrotask } from './timers.ts';
export { parseQuery } from './url/url-search-params.ts';
