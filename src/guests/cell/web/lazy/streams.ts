/** Streams, as far as bodies and their usual transforms need them. */
import type { ByteSource } from '../fetch/body.ts';
import { markDisturbed, ReadableStream } from '../streams/readable-stream.ts';

export { isStreamDisturbed, ReadableStream } from '../streams/readable-stream.ts';
export { ByteLengthQueuingStrategy, CountQueuingStrategy } from '../streams/stream-core.ts';
export { TransformStream } from '../streams/transform-stream.ts';
export { CompressionStream, DecompressionStream, TextDecoderStream, TextEncoderStream } from '../streams/transforms.ts';
export { WritableStream } from '../streams/writable-stream.ts';

/** A stream that pulls when it is read, and keeps nothing ready. */
export function streamFrom(source: ByteSource): ReadableStream {
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = await source.pull(false);
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel: () => source.cancel(),
    },
    { highWaterMark: 0 },
  );
}

/** A stream of one chunk; `used` makes one that was read to its end. */
export function streamOf(bytes: Uint8Array, used: boolean): ReadableStream {
  const stream = new ReadableStream({
    start(controller) {
      if (!used && bytes.length > 0) controller.enqueue(bytes);
      controller.close();
    },
  });
  if (used) markDisturbed(stream);
  return stream;
}
