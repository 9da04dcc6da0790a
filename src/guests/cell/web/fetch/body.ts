/** What Request and Response share: a body that is read once. Buffered unless a stream was given or asked for. */
import { decodeText, encodeText, joinBytes, toBytes } from '../bytes.ts';
import { findModule, loadModule } from '../define.ts';
import type { ReadableStream } from '../streams/readable-stream.ts';
import { TextDecoder } from '../text-coding.ts';
import { URLSearchParams } from '../url/url-search-params.ts';
import type { Headers } from './headers.ts';

type Content = string | Uint8Array;

/** The rest of a body that the host still reads. */
export interface ByteSource {
  /** The next bytes, with `fill` many at once; undefined at the end. */
  pull(fill: boolean): Promise<Uint8Array | undefined>;
  cancel(): unknown;
}

interface Extracted {
  readonly content?: Content;
  readonly stream?: ReadableStream;
  readonly type?: string;
}

/** The largest body that a request may have, in bytes: the host takes no larger one. */
const LARGEST_UPLOAD = 16 * 1024 * 1024;

/** A copy of the body for a clone: content is shared, a stream is split. */
export let copyBody: (body: Body) => Extracted;

/** The whole body as bytes; marks it as used. */
export let takeBytes: (body: Body) => Promise<Uint8Array | undefined>;

/** Makes a body read what the host still has. */
export let attachSource: (body: Body, source: ByteSource) => void;

export class Body {
  #content: Content | undefined;
  #stream: ReadableStream | undefined;
  #source: ByteSource | undefined;
  #used = false;
  declare readonly headers: Headers;

  static {
    copyBody = (body) => {
      if (body.bodyUsed || body.#stream?.locked) throw new TypeError('A body that was read cannot be cloned');
      const stream = body.#source ? body.body : body.#stream;
      if (!stream) return body.#content === undefined ? {} : { content: body.#content };
      const [left, right] = stream.tee();
      body.#stream = left;
      return { stream: right };
    };
    takeBytes = async (body) => (body.#isEmpty() ? undefined : toUtf8(await body.#take(LARGEST_UPLOAD)));
    attachSource = (body, source) => {
      body.#source = source;
    };
  }

  constructor(extracted: Extracted) {
    this.#content = extracted.content;
    this.#stream = extracted.stream;
  }

  get body(): ReadableStream | null {
    if (this.#isEmpty()) return null;
    if (!this.#stream) {
      const { streamFrom, streamOf } = loadModule('streams');
      this.#stream = this.#source && !this.#used ? streamFrom(this.#source) : streamOf(toUtf8(this.#content ?? ''), this.#used);
      this.#content = this.#source = undefined;
    }
    return this.#stream;
  }
  get bodyUsed(): boolean {
    return this.#used || (this.#stream !== undefined && loadModule('streams').isStreamDisturbed(this.#stream));
  }
  async text(): Promise<string> {
    if (this.#source && !this.#used) return this.#takeText(this.#source);
    const content = await this.#take();
    return typeof content === 'string' ? content.toWellFormed().replace(/^\ufeff/, '') : decodeText(content);
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
  async bytes(): Promise<Uint8Array> {
    return toUtf8(await this.#take()).slice();
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer as ArrayBuffer;
  }
  async blob(): Promise<unknown> {
    return new (loadModule('files').Blob)([await this.bytes()], { type: this.headers.get('content-type') ?? '' });
  }
  async formData(): Promise<unknown> {
    return loadModule('files').parseForm(await this.bytes(), this.headers.get('content-type') ?? '');
  }

  /** Piece by piece: bytes and text of a large body together may be more than a call has memory for. */
  async #takeText(source: ByteSource): Promise<string> {
    this.#used = true;
    const decoder = new TextDecoder();
    let text = '';
    for (let chunk = await source.pull(true); chunk; chunk = await source.pull(true))
      text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  }

  #isEmpty(): boolean {
    return this.#content === undefined && !this.#stream && !this.#source;
  }

  async #take(maxBytes = Infinity): Promise<Content> {
    if (this.bodyUsed || this.#stream?.locked) throw new TypeError('The body was read already; read it once, or clone() first');
    this.#used = !this.#isEmpty();
    const chunks: Uint8Array[] = [];
    if (this.#source) {
      for (let chunk = await this.#source.pull(true); chunk; chunk = await this.#source.pull(true)) chunks.push(chunk);
      return joinBytes(chunks);
    }
    if (!this.#stream) return this.#content ?? '';
    let size = 0;
    for await (const chunk of this.#stream) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('A body stream must give Uint8Array chunks');
      size += chunk.length;
      if (size > maxBytes) throw new TypeError(`The body of a request may have at most ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return joinBytes(chunks);
  }
}

/** Takes a body apart: its bytes, text or stream, and the content type that it implies. */
export function extractBody(source: unknown): Extracted {
  if (source === undefined || source === null) return {};
  const bytes = toBytes(source);
  if (bytes) return { content: bytes };
  if (source instanceof URLSearchParams)
    return { content: String(source), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  if (typeof source === 'object') {
    const streams = findModule('streams');
    if (streams && source instanceof streams.ReadableStream) {
      if (source.locked || streams.isStreamDisturbed(source))
        throw new TypeError('The stream given as body was read already or is locked');
      return { stream: source };
    }
    const packed = findModule('files')?.packBody(source);
    if (packed) return packed.type === '' ? { content: packed.content } : packed;
  }
  return { content: String(source), type: 'text/plain;charset=UTF-8' };
}

function toUtf8(content: Content): Uint8Array {
  return typeof content === 'string' ? encodeText(content) : content;
}
