/** Puts the web API on the global object. */
import { askNow } from '../border.ts';
import { performance } from '../clock.ts';
import { reportError } from '../warnings.ts';
import { AbortController, AbortSignal } from './abort.ts';
import * as base from './base.ts';
import { atob, btoa } from './bytes.ts';
import { console } from './console/console.ts';
import { formatLog } from './console/format-log.ts';
import { inspect } from './console/inspect.ts';
import { crypto } from './crypto.ts';
import { defineGlobal, defineLazyGlobals, provideBase } from './define.ts';
import { DOMException } from './dom-exception.ts';
import { CustomEvent, Event, EventTarget } from './event.ts';
import { fetch } from './fetch/fetch.ts';
import { Headers } from './fetch/headers.ts';
import { Request } from './fetch/request.ts';
import { Response } from './fetch/response.ts';
import { completeLanguage } from './language.ts';
import { installStackTrace } from './stack-trace.ts';
import { TextDecoder, TextEncoder } from './text-coding.ts';
import { clearTimer, queueMicrotask, setImmediate, setInterval, setTimeout } from './timers.ts';
import { URL } from './url/url.ts';
import { URLSearchParams } from './url/url-search-params.ts';

const globals: Record<string, unknown> = {
  AbortController,
  AbortSignal,
  CustomEvent,
  DOMException,
  Event,
  EventTarget,
  Headers,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  atob,
  btoa,
  clearImmediate: (timer: unknown) => clearTimer(timer),
  clearInterval: (timer: unknown) => clearTimer(timer),
  clearTimeout: (timer: unknown) => clearTimer(timer),
  console,
  crypto,
  fetch,
  global: globalThis,
  navigator: { userAgent: 'Hotcell', hardwareConcurrency: 1, language: 'en-US', languages: ['en-US'], platform: 'linux' },
  performance,
  queueMicrotask,
  reportError,
  self: globalThis,
  setImmediate,
  setInterval,
  setTimeout,
};

/** Defines the minimum common web API. Called once, when the base image is built. */
export function installWebApi(): void {
  provideBase(base);
  for (const [name, value] of Object.entries(globals)) defineGlobal(name, value);
  defineLazyGlobals('streams', [
    'ReadableStream',
    'WritableStream',
    'TransformStream',
    'ByteLengthQueuingStrategy',
    'CountQueuingStrategy',
    'TextDecoderStream',
    'TextEncoderStream',
    'CompressionStream',
    'DecompressionStream',
  ]);
  defineLazyGlobals('buffer', ['Buffer']);
  defineLazyGlobals('files', ['Blob', 'File', 'FormData']);
  defineLazyGlobals('intl', ['Intl']);
  defineLazyGlobals('messages', ['MessageChannel', 'MessageEvent', 'MessagePort', 'structuredClone']);
  defineLazyGlobals('subtle', ['CryptoKey']);
  defineLazyGlobals('process', ['process']);
  completeLanguage();
  installStackTrace();
  // Shims of node: modules are bundled with plugins and reach the host's own implementations over this.
  Object.defineProperty(globalThis, Symbol.for('hotcell.askNow'), { value: askNow });
  Object.defineProperty(globalThis, Symbol.for('hotcell.show'), { value: { inspect, formatLog } });
}
