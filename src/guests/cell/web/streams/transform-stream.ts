import { ReadableStream } from './readable-stream.ts';
import type { Controller, Strategy } from './stream-core.ts';
import { WritableStream } from './writable-stream.ts';

/** What a plugin gives to change chunks on their way. */
export interface Transformer {
  start?(controller: TransformController): unknown;
  transform?(chunk: unknown, controller: TransformController): unknown;
  flush?(controller: TransformController): unknown;
  cancel?(reason: unknown): unknown;
}

/** Where a transformer puts what it makes. */
export interface TransformController {
  readonly desiredSize: number | null;
  enqueue(chunk: unknown): void;
  error(reason?: unknown): void;
  terminate(): void;
}

export class TransformStream {
  readonly readable: ReadableStream;
  readonly writable: WritableStream;

  constructor(transformer: Transformer = {}, writing?: Strategy, reading: Strategy = { highWaterMark: 0 }) {
    let out: Controller | undefined;
    let room = Promise.withResolvers<void>();
    let ended = false;
    let produced = false;
    const finish = (last: (end: Controller) => void) => {
      if (ended || !out) return;
      ended = true;
      last(out);
      room.resolve();
    };
    this.readable = new ReadableStream(
      {
        start: (end) => {
          out = end;
        },
        pull: () => room.resolve(),
        cancel: async (reason) => {
          ended = true;
          room.resolve();
          await transformer.cancel?.(reason);
        },
      },
      reading,
    );
    const controller: TransformController = {
      get desiredSize() {
        return out?.desiredSize ?? null;
      },
      enqueue: (chunk) => {
        produced = true;
        out?.enqueue(chunk);
      },
      error: (reason) => finish((end) => end.error(reason)),
      terminate: () => finish((end) => end.close()),
    };
    this.writable = new WritableStream(
      {
        start: () => transformer.start?.(controller),
        write: async (chunk) => {
          // A chunk goes on only when the readable end asks: that is the back pressure.
          await room.promise;
          room = Promise.withResolvers<void>();
          produced = false;
          if (ended) throw new TypeError('The readable end of the transform has ended');
          try {
            if (transformer.transform) await transformer.transform(chunk, controller);
            else controller.enqueue(chunk);
          } catch (error) {
            controller.error(error);
            throw error;
          }
          if (!produced) room.resolve();
        },
        close: async () => {
          try {
            await transformer.flush?.(controller);
          } catch (error) {
            controller.error(error);
            throw error;
          }
          controller.terminate();
        },
        abort: (reason) => controller.error(reason),
      },
      writing,
    );
  }
}
