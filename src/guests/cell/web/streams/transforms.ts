/** The transforms that the web brings along: text and bytes, packed and unpacked. */
import { askNow, encodeText, joinBytes, TextDecoder, toBytes } from '../base.ts';
import { type Transformer, TransformStream } from './transform-stream.ts';

export class TextDecoderStream extends TransformStream {
  readonly encoding: string;

  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }) {
    const decoder = new TextDecoder(label, options);
    super({
      transform(chunk, controller) {
        const text = decoder.decode(chunk, { stream: true });
        if (text !== '') controller.enqueue(text);
      },
      flush(controller) {
        const text = decoder.decode();
        if (text !== '') controller.enqueue(text);
      },
    });
    this.encoding = decoder.encoding;
  }
}

export class TextEncoderStream extends TransformStream {
  readonly encoding = 'utf-8';

  constructor() {
    // A character may be split over two chunks: its first half waits for the second.
    let held = '';
    super({
      transform(chunk, controller) {
        const text = held + String(chunk);
        held = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
        const whole = text.slice(0, text.length - held.length);
        if (whole !== '') controller.enqueue(encodeText(whole));
      },
      flush(controller) {
        if (held !== '') controller.enqueue(encodeText(held));
      },
    });
  }
}

const kinds: Readonly<Record<string, readonly [string, string]>> = {
  gzip: ['gzip', 'gunzip'],
  deflate: ['deflate', 'inflate'],
  'deflate-raw': ['deflateRaw', 'inflateRaw'],
  brotli: ['brotliCompress', 'brotliDecompress'],
};

export class CompressionStream extends TransformStream {
  constructor(format: string) {
    super(collect('CompressionStream', format, 0));
  }
}

export class DecompressionStream extends TransformStream {
  constructor(format: string) {
    super(collect('DecompressionStream', format, 1));
  }
}

/** Chunks are collected; the host packs or unpacks them at the end, within its bounds. */
function collect(name: string, format: string, side: 0 | 1): Transformer {
  const kind = Object.hasOwn(kinds, String(format)) ? kinds[String(format)]?.[side] : undefined;
  if (kind === undefined) throw new TypeError(`${name} knows ${Object.keys(kinds).join(', ')}; got "${String(format)}"`);
  const chunks: Uint8Array[] = [];
  return {
    transform(chunk) {
      const bytes = toBytes(chunk);
      if (!bytes) throw new TypeError(`${name} takes bytes`);
      chunks.push(bytes);
    },
    flush(controller) {
      try {
        const answer = askNow('zlib', JSON.stringify({ kind }), joinBytes(chunks).buffer);
        if (answer instanceof ArrayBuffer && answer.byteLength > 0) controller.enqueue(new Uint8Array(answer));
      } catch (error) {
        throw new TypeError(error instanceof Error ? error.message : String(error));
      }
    },
  };
}
