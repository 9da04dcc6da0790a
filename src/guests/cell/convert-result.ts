/** Makes plain JSON data of what a handler returned and `JSON.stringify` would lose; the page on plugins has the table. */
import { findMediaType } from './media-type.ts';
import type { Convert, ConvertTools } from './result.ts';

/** Bytes and text, as the platform has them. */
export interface ByteTools {
  readonly toBase64: (bytes: Uint8Array) => string;
  /** Undefined for what is no UTF-8. */
  readonly readText: (bytes: Uint8Array) => string | undefined;
}

interface Pulled {
  readonly done?: boolean;
  readonly value?: unknown;
}

/** Something that gives its values one by one. */
interface Pull {
  next(): Pulled | PromiseLike<Pulled>;
  return?(): unknown;
}

interface FileLike {
  readonly type: string;
  readonly size: number;
  readonly name?: unknown;
  arrayBuffer(): Promise<ArrayBuffer>;
}

interface ResponseLike {
  readonly status: number;
  readonly statusText?: unknown;
  readonly ok?: unknown;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

type Values = Record<string, unknown>;

const maxDepth = 500;
const maxPartText = 500;
const { fromEntries, getPrototypeOf, keys } = Object;

/** Creates the converter. */
export function createConverter(bytesAs: ByteTools): Convert {
  return (result, tools) => new Conversion(tools, bytesAs).convert(result);
}

/** One result on its way. What takes time is read after everything else, into the place that was left for it. */
class Conversion {
  readonly #tools: ConvertTools;
  readonly #bytesAs: ByteTools;
  readonly #later: (() => Promise<void>)[] = [];
  #bytes = 0;

  constructor(tools: ConvertTools, bytesAs: ByteTools) {
    this.#tools = tools;
    this.#bytesAs = bytesAs;
  }

  async convert(result: unknown): Promise<unknown> {
    const holder: Values = {};
    this.#put(holder, 'result', result, '', []);
    for (let job = this.#later.shift(); job; job = this.#later.shift()) await job();
    return holder.result;
  }

  #put(holder: Values | unknown[], key: string | number, value: unknown, at: string, parents: readonly unknown[]): void {
    const read = this.#readLater(value, at);
    const target = holder as Values;
    if (!read) {
      const plain = this.#plain(value, at, parents);
      if (plain !== undefined || Array.isArray(holder)) define(target, key, plain ?? null);
      return;
    }
    define(target, key, null);
    this.#later.push(async () => this.#put(holder, key, await read(), at, [...parents, value]));
  }

  #readLater(value: unknown, at: string): (() => Promise<unknown>) | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    if (isResponse(value)) return () => this.#readResponse(value);
    if (isFile(value)) {
      return async () => this.#part(new Uint8Array(await value.arrayBuffer()), value.type, value.name);
    }
    const pull = findPull(value);
    if (pull) return () => this.#drain(pull(), at === '');
    if (typeof (value as { then?: unknown }).then === 'function') return async () => value;
    return undefined;
  }

  #plain(value: unknown, at: string, parents: readonly unknown[]): unknown {
    switch (typeof value) {
      case 'number':
        if (Number.isFinite(value)) return value;
        return this.#lose(at, String(value), 'null took its place', null);
      case 'bigint':
        return String(value);
      case 'function':
      case 'symbol':
        return this.#lose(at, `a ${typeof value}`, 'it was left out', undefined);
      case 'object':
        return value === null ? null : this.#object(value, at, parents);
      default:
        return value;
    }
  }

  #object(value: object, at: string, parents: readonly unknown[]): unknown {
    const name = at === '' ? 'The result' : at;
    if (parents.includes(value)) throw this.#tools.refuse('output-invalid', `${name} holds itself, which JSON cannot say.`);
    if (parents.length > maxDepth) throw this.#tools.refuse('output-invalid', `The result nests deeper than ${maxDepth} levels.`);
    const inside = [...parents, value];
    const bytes = readBytes(value);
    if (bytes) return this.#part(bytes, '', undefined);
    if (value instanceof Date && Number.isNaN(value.getTime()))
      return this.#lose(at, 'an invalid Date', 'null took its place', null);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return this.#inner(toJSON.call(value, ''), at, inside);
    if (value instanceof String || value instanceof Number || value instanceof Boolean)
      return this.#plain(value.valueOf(), at, inside);
    if (value instanceof RegExp || tagOf(value) === 'URLSearchParams') return String(value);
    if (value instanceof Error) return this.#members(describeError(value), at, inside);
    const list = readList(value);
    if (list) return this.#list(list, at, inside);
    if (tagOf(value) === 'Headers') return fromEntries(value as unknown as Iterable<[string, string]>);
    return this.#members(value as Values, at, inside);
  }

  /** A value in the place of another one, which may be of any kind again. */
  #inner(value: unknown, at: string, parents: readonly unknown[]): unknown {
    return typeof value === 'object' && value !== null ? this.#object(value, at, parents) : this.#plain(value, at, parents);
  }

  #list(list: readonly unknown[], at: string, parents: readonly unknown[]): unknown[] {
    const plain: unknown[] = [];
    for (let index = 0; index < list.length; index++) this.#put(plain, index, list[index], `${at}[${index}]`, parents);
    return plain;
  }

  #members(value: Values, at: string, parents: readonly unknown[]): Values {
    const names = keys(value);
    if (names.length === 0 && isInstance(value)) {
      const kind = String((value.constructor as { name?: unknown } | undefined)?.name ?? 'object');
      this.#warn(at, `is a ${kind} that shows nothing as JSON; return a plain object, or give the class a toJSON method`);
    }
    const bytes = isPart(value) ? readBytes(value.data) : undefined;
    const plain: Values = {};
    for (const name of names) this.#put(plain, name, value[name], at === '' ? name : `${at}.${name}`, parents);
    if (!bytes) return plain;
    const { data, mediaType } = this.#part(bytes, typeof value.mediaType === 'string' ? value.mediaType : '', undefined);
    return { ...plain, mediaType, data };
  }

  /** Bytes as a part that models and other programs know what to do with. */
  #part(bytes: Uint8Array, type: string, name: unknown): { type: string; mediaType: string; data: string; name?: string } {
    this.#count((bytes.length * 4) / 3);
    const mediaType = type === '' || type === 'application/octet-stream' ? findMediaType(bytes, this.#bytesAs.readText) : type;
    const [kind] = mediaType.split('/');
    return {
      type: kind === 'image' || kind === 'audio' ? kind : 'file',
      mediaType,
      ...(typeof name === 'string' && name !== '' ? { name } : {}),
      data: this.#bytesAs.toBase64(bytes),
    };
  }

  async #readResponse(response: ResponseLike): Promise<unknown> {
    const type = response.headers.get('content-type') ?? '';
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok === false)
      this.#tools.warn(`The returned response has the status ${response.status} ${String(response.statusText ?? '')}.`);
    if (bytes.length === 0) return null;
    const isText = type === '' || /^text\/|[/+](?:json|xml|javascript|x-www-form-urlencoded|yaml)\b/i.test(type);
    const text = isText ? this.#bytesAs.readText(bytes) : undefined;
    if (text === undefined) return this.#part(bytes, type.split(';')[0]?.trim().toLowerCase() ?? '', undefined);
    return /[/+]json\b/i.test(type) ? parseOr(text) : text;
  }

  /** Reads to the end: text is joined to text, bytes to bytes, and other values are a list. What a generator returns counts instead. */
  async #drain(source: Pull, isWhole: boolean): Promise<unknown> {
    const chunks: unknown[] = [];
    let isDone = false;
    try {
      for (;;) {
        const { done, value } = await source.next();
        if (done) {
          isDone = true;
          return value === undefined ? join(chunks) : value;
        }
        this.#count(lengthOf(value));
        chunks.push(value);
        if (isWhole) this.#tools.tellPart(chunks.length, describePart(value));
      }
    } finally {
      if (!isDone) await source.return?.();
    }
  }

  /** What is read may have no end. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#tools.outputBytes) return;
    throw this.#tools.refuse('output-exceeded', `The output is larger than ${this.#tools.outputBytes} bytes of JSON.`);
  }

  #lose<Left>(at: string, what: string, became: string, left: Left): Left {
    if (at === '') throw this.#tools.refuse('output-invalid', `The handler returned ${what}, which JSON cannot say.`);
    this.#warn(at, `is ${what}, which JSON cannot say: ${became}`);
    return left;
  }

  #warn(at: string, text: string): void {
    this.#tools.warn(`${at === '' ? 'The result' : `In the result, ${at}`} ${text}.`);
  }
}

/** "__proto__" is a key like any other. */
function define(target: Values, key: string | number, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function isInstance(value: object): boolean {
  const prototype: unknown = getPrototypeOf(value);
  return prototype !== null && getPrototypeOf(prototype) !== null;
}

function isPart(value: Values): boolean {
  return (value.type === 'image' || value.type === 'audio' || value.type === 'file') && typeof value.data === 'object';
}

function isFile(value: object): value is FileLike {
  const { type, size, arrayBuffer } = value as Partial<FileLike>;
  return typeof arrayBuffer === 'function' && typeof type === 'string' && typeof size === 'number';
}

function isResponse(value: object): value is ResponseLike {
  const { status, headers, arrayBuffer } = value as Partial<ResponseLike>;
  return typeof arrayBuffer === 'function' && typeof status === 'number' && typeof headers?.get === 'function';
}

/** Bytes of one byte each; a list of larger numbers is data. */
function readBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return undefined;
  const isBytes = value instanceof Uint8Array || value instanceof Uint8ClampedArray || value instanceof DataView;
  return isBytes ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

function readList(value: object): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const isOwnData = keys(value).length > 0 && !ArrayBuffer.isView(value);
  if (isOwnData || tagOf(value) === 'Headers' || !(Symbol.iterator in value)) return undefined;
  return [...(value as Iterable<unknown>)];
}

/** How to read what comes in pieces: streams, async iterables and generators. */
function findPull(value: object): (() => Pull) | undefined {
  const { getReader } = value as { getReader?: () => { read(): Promise<Pulled>; cancel(): unknown } };
  if (Symbol.asyncIterator in value) return () => (value as { [Symbol.asyncIterator](): Pull })[Symbol.asyncIterator]();
  if (typeof getReader === 'function') {
    return () => {
      const reader = getReader.call(value);
      return { next: () => reader.read(), return: () => reader.cancel() };
    };
  }
  return tagOf(value) === 'Generator' ? () => value as Pull : undefined;
}

function describeError(error: Error): Values {
  const { name, message, cause } = error;
  return { ...error, name, message, ...(cause === undefined ? {} : { cause }) };
}

function describePart(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, maxPartText);
  const bytes = readBytes(value);
  if (bytes) return `${bytes.length} bytes`;
  try {
    return (JSON.stringify(value) ?? '').slice(0, maxPartText);
  } catch {
    return '';
  }
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (readBytes(value)?.length ?? 1);
}

function join(chunks: readonly unknown[]): unknown {
  if (chunks.length === 0) return null;
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.join('');
  const parts = chunks.map(readBytes);
  if (!parts.every((part) => part !== undefined)) return chunks;
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
