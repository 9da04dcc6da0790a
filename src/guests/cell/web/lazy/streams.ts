/** Streams, as far as bodies and their usual transforms need them. */
import type { Provide } from '../define.ts';
import type { ByteSource } from '../lazy-parts.ts';
import { createCompressionStreams } from './compression-streams.ts';
import { isStreamDisturbed, markDisturbed, ReadableStream } from './readable-stream.ts';
import { createTextStreams } from './text-streams.ts';
import { TransformStream } from './transform-stream.ts';
import { WritableStream } from './writable-stream.ts';

declare const provide: Provide;

provide((shared) => ({
  ReadableStream,
  WritableStream,
  TransformStream,
  ...createTextStreams(shared),
  ...createCompressionStreams(shared),
  isDisturbed: isStreamDisturbed,
  streamFrom: (source: ByteSource) =>
    new ReadableStream(
      {
        async pull(controller) {
          const chunk = await source.pull(false);
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        },
        cancel: () => source.cancel(),
      },
      { highWaterMark: 0 },
    ),
  streamOf(bytes: Uint8Array, used: boolean) {
    const stream = new ReadableStream({
      start(controller) {
        if (!used && bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      },
    });
    if (used) markDisturbed(stream);
    return stream;
  },
}));
