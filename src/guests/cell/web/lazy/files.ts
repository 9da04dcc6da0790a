/** Blob, File and FormData, with the forms that bodies need. */
import {
  decodeText,
  encodeText,
  joinBytes,
  listPairs,
  loadModule,
  Pairs,
  parseQuery,
  randomUUID,
  toBytes,
  watchInResults,
} from '../base.ts';
import { encodeMultipart, parseMultipart } from '../fetch/multipart.ts';
import type { ReadableStream } from '../streams/readable-stream.ts';

type Value = string | File;

let bytesOf: (blob: Blob) => Uint8Array;

/** Bytes in the guest's own memory. */
export class Blob {
  readonly #bytes: Uint8Array;
  readonly #type: string;

  static {
    bytesOf = (blob) => blob.#bytes;
  }

  constructor(parts: Iterable<unknown> = [], options: { type?: string } = {}) {
    if (typeof parts !== 'object' || parts === null) throw new TypeError('Blob expects a list of parts');
    this.#bytes = joinBytes(
      Array.from(parts, (part) => (part instanceof Blob ? bytesOf(part) : (toBytes(part) ?? encodeText(String(part))))),
    );
    const type = String(options.type ?? '');
    this.#type = /[^ -~]/.test(type) ? '' : type.toLowerCase();
  }

  get size(): number {
    return this.#bytes.length;
  }
  get type(): string {
    return this.#type;
  }
  slice(start?: number, end?: number, type = ''): Blob {
    return new Blob([this.#bytes.slice(start, end)], { type });
  }
  async text(): Promise<string> {
    return decodeText(this.#bytes);
  }
  async bytes(): Promise<Uint8Array> {
    return this.#bytes.slice();
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer as ArrayBuffer;
  }
  stream(): ReadableStream {
    return loadModule('streams').streamOf(this.#bytes, false);
  }
}

export class File extends Blob {
  readonly name: string;
  readonly lastModified: number;

  constructor(parts: Iterable<unknown>, name: string, options: { type?: string; lastModified?: number } = {}) {
    super(parts, options);
    this.name = String(name);
    this.lastModified = options.lastModified ?? Date.now();
  }
}

/** Pairs in the order in which they were added; a Blob becomes a File. */
export class FormData extends Pairs<Value> {
  #pairs: [string, Value][] = [];

  append(name: unknown, value: unknown, filename?: string): void {
    this.#pairs.push([toText(name), toValue(value, filename)]);
  }
  set(name: unknown, value: unknown, filename?: string): void {
    const made: [string, Value] = [toText(name), toValue(value, filename)];
    const at = this.#pairs.findIndex(([other]) => other === made[0]);
    if (at < 0) this.#pairs.push(made);
    else
      this.#pairs = this.#pairs
        .map((pair, index) => (index === at ? made : pair))
        .filter((pair) => pair === made || pair[0] !== made[0]);
  }
  delete(name: unknown): void {
    this.#pairs = this.#pairs.filter(([other]) => other !== toText(name));
  }
  get(name: unknown): Value | null {
    return this.#pairs.find(([other]) => other === toText(name))?.[1] ?? null;
  }
  getAll(name: unknown): Value[] {
    return this.#pairs.filter(([other]) => other === toText(name)).map(([, value]) => value);
  }
  has(name: unknown): boolean {
    return this.#pairs.some(([other]) => other === toText(name));
  }
  *[listPairs](): IterableIterator<[string, Value]> {
    for (const [name, value] of this.#pairs) yield [name, value];
  }
}

for (const { prototype } of [Blob, FormData]) watchInResults(prototype);

function toValue(value: unknown, filename: string | undefined): Value {
  if (!(value instanceof Blob)) return toText(value);
  if (value instanceof File && filename === undefined) return value;
  return new File([value], filename ?? 'blob', { type: value.type });
}

function toText(value: unknown): string {
  return String(value).toWellFormed();
}

/** Bytes and type of a Blob or FormData; undefined for anything else. */
export function packBody(source: object): { readonly content: Uint8Array; readonly type: string } | undefined {
  if (source instanceof Blob) return { content: bytesOf(source), type: source.type };
  if (!(source instanceof FormData)) return undefined;
  const boundary = `----hotcell${randomUUID().replaceAll('-', '')}`;
  return { content: encodeMultipart(source, boundary, bytesOf), type: `multipart/form-data; boundary=${boundary}` };
}

/** Parses urlencoded and multipart bodies; throws TypeError for other types. */
export function parseForm(bytes: Uint8Array, type: string): FormData {
  const form = new FormData();
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    for (const [name, value] of parseQuery(decodeText(bytes))) form.append(name, value);
    return form;
  }
  const [, quoted, plain] = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined)
    throw new TypeError(`A form is urlencoded or multipart with a boundary; the content type is "${type}"`);
  for (const part of parseMultipart(bytes, boundary)) {
    if (part.filename === undefined) form.append(part.name, decodeText(part.content));
    else form.append(part.name, new File([part.content], part.filename, { type: part.type }));
  }
  return form;
}
