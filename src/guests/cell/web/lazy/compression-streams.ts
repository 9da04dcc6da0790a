/** CompressionStream and DecompressionStream: chunks are collected, the host packs or unpacks them at the end, within its bounds. */
import type { Internals } from '../internals.ts';
import { TransformStream } from './transform-stream.ts';

const kinds: Readonly<Record<string, readonly [string, string]>> = {
  gzip: ['gzip', 'gunzip'],
  deflate: ['deflate', 'inflate'],
  'deflate-raw': ['deflateRaw', 'inflateRaw'],
  brotli: ['brotliCompress', 'brotliDecompress'],
};

/** The classes, over what the base shares. */
export function createCompressionStreams({ askNow, joinBytes, toBytes }: Internals) {
  function collect(name: string, format: unknown, side: 0 | 1): TransformStream {
    const kind = Object.hasOwn(kinds, String(format)) ? kinds[String(format)]?.[side] : undefined;
    if (kind === undefined) throw new TypeError(`${name} knows ${Object.keys(kinds).join(', ')}; got "${String(format)}"`);
    const chunks: Uint8Array[] = [];
    return new TransformStream({
      transform(chunk) {
        const bytes = toBytes(chunk);
        if (!bytes) throw new TypeError(`${name} takes bytes`);
        chunks.push(bytes.slice());
      },
      flush(controller) {
        try {
          const answer = askNow('zlib', JSON.stringify({ kind }), joinBytes(chunks).slice().buffer as ArrayBuffer);
          if (answer instanceof ArrayBuffer && answer.byteLength > 0) controller.enqueue(new Uint8Array(answer));
        } catch (error) {
          throw new TypeError(error instanceof Error ? error.message : String(error));
        }
      },
    });
  }
  class CompressionStream {
    readonly #pair: TransformStream;
    constructor(format: string) {
      this.#pair = collect('CompressionStream', format, 0);
    }
    get readable() {
      return this.#pair.readable;
    }
    get writable() {
      return this.#pair.writable;
    }
  }
  class DecompressionStream {
    readonly #pair: TransformStream;
    constructor(format: string) {
      this.#pair = collect('DecompressionStream', format, 1);
    }
    get readable() {
      return this.#pair.readable;
    }
    get writable() {
      return this.#pair.writable;
    }
  }
  return { CompressionStream, DecompressionStream };
}
