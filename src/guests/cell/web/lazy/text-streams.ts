import type { Internals } from '../internals.ts';
import { TransformStream } from './transform-stream.ts';

/** TextDecoderStream and TextEncoderStream. */
export function createTextStreams({ TextDecoder, encodeText }: Internals): Record<string, unknown> {
  class TextDecoderStream extends TransformStream {
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

  class TextEncoderStream extends TransformStream {
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

  return { TextDecoderStream, TextEncoderStream };
}
