import {
  type Controller,
  type Core,
  cancelStream,
  createCore,
  failStream,
  pullStream,
  Reader,
  type Source,
  type Strategy,
} from './stream-core.ts';
import type { WritableStream } from './writable-stream.ts';

/** The options of pipeTo. */
interface PipeOptions {
  readonly preventClose?: boolean;
  readonly preventAbort?: boolean;
  readonly preventCancel?: boolean;
  readonly signal?: {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: string, listener: () => void): void;
  };
}

let coreOf: (stream: ReadableStream) => Core;

/** True once anything was read or cancelled. */
export function isStreamDisturbed(stream: ReadableStream): boolean {
  return coreOf(stream).disturbed;
}

/** Makes a stream count as read. */
export function markDisturbed(stream: ReadableStream): void {
  coreOf(stream).disturbed = true;
}

export class ReadableStream {
  readonly #core: Core;

  static {
    coreOf = (stream) => stream.#core;
  }

  constructor(source: Source = {}, strategy: Strategy = {}) {
    const core = createCore(source, strategy);
    this.#core = core;
    const started = source.start?.(core.controller);
    // Chunks are asked for only after `start` has settled.
    core.pulling = true;
    Promise.resolve(started).then(
      () => {
        core.pulling = false;
        pullStream(core);
      },
      (reason) => failStream(core, reason),
    );
  }

  get locked(): boolean {
    return this.#core.reader !== undefined;
  }
  getReader(options: { mode?: string } = {}): Reader {
    if (options.mode !== undefined) throw new TypeError('Only the default reader is available; call getReader() without a mode');
    return new Reader(this.#core);
  }
  async cancel(reason?: unknown): Promise<void> {
    if (this.locked) throw new TypeError('A locked stream cannot be cancelled; cancel its reader');
    await cancelStream(this.#core, reason);
  }
  tee(): [ReadableStream, ReadableStream] {
    return tee(this);
  }
  pipeTo(target: WritableStream, options?: PipeOptions): Promise<void> {
    return pipe(this, target, options);
  }
  pipeThrough<Output>(pair: { readable: Output; writable: WritableStream }, options?: PipeOptions): Output {
    // The outcome of the pipe shows on the readable end.
    pipe(this, pair.writable, options).catch(() => {});
    return pair.readable;
  }
  values(options: { preventCancel?: boolean } = {}): AsyncIterableIterator<unknown> {
    const reader = this.getReader();
    let isOver = false;
    const release = () => {
      isOver = true;
      reader.releaseLock();
    };
    // Not a generator: leaving a loop must cancel at once, and the engine does not wait for a generator's clean-up.
    const iterator: AsyncIterableIterator<unknown> = {
      async next() {
        if (isOver) return { done: true, value: undefined };
        const result = await reader.read().catch((error: unknown) => {
          release();
          throw error;
        });
        if (result.done) release();
        return result;
      },
      // The engine calls it also after a loop that ran to the end, when there is nothing left to cancel.
      async return(value) {
        if (!isOver) {
          const cancelled = options.preventCancel ? undefined : reader.cancel(value);
          release();
          await cancelled;
        }
        return { done: true, value };
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }
  [Symbol.asyncIterator](options?: { preventCancel?: boolean }): AsyncIterableIterator<unknown> {
    return this.values(options);
  }

  static from(items: Iterable<unknown> | AsyncIterable<unknown>): ReadableStream {
    const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    return new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(await value);
        },
        cancel: (reason) => iterator.return?.(reason),
      },
      { highWaterMark: 0 },
    );
  }
}

function tee(stream: ReadableStream): [ReadableStream, ReadableStream] {
  const reader = stream.getReader();
  const ends: Controller[] = [];
  const reasons: { readonly reason: unknown }[] = [];
  const bothCancelled = Promise.withResolvers<void>();
  let reading: Promise<void> | undefined;
  const readOnce = async () => {
    try {
      const { done, value } = await reader.read();
      ends.forEach((end, index) => {
        if (reasons[index]) return;
        if (done) end.close();
        else end.enqueue(value);
      });
    } catch (error) {
      for (const end of ends) end.error(error);
    } finally {
      reading = undefined;
    }
  };
  const branch = (index: number) =>
    new ReadableStream({
      start: (controller) => {
        ends[index] = controller;
      },
      pull: () => {
        reading ??= readOnce();
        return reading;
      },
      cancel: (reason) => {
        reasons[index] = { reason };
        if (reasons[0] && reasons[1]) bothCancelled.resolve(reader.cancel([reasons[0].reason, reasons[1].reason]));
        return bothCancelled.promise;
      },
    });
  return [branch(0), branch(1)];
}

/** Moves every chunk, then closes the target; a failure at either end reaches the other. */
async function pipe(source: ReadableStream, target: WritableStream, options: PipeOptions = {}): Promise<void> {
  const reader = source.getReader();
  const writer = target.getWriter();
  const { signal } = options;
  const aborted = new Promise<never>((_resolve, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
  aborted.catch(() => {});
  let reading = true;
  try {
    for (;;) {
      reading = false;
      await Promise.race([writer.ready, aborted]);
      reading = true;
      const { done, value } = await Promise.race([reader.read(), aborted]);
      if (done) break;
      reading = false;
      // Not awaited: the sink's own queue sets the pace through `ready`.
      writer.write(value).catch(() => {});
    }
    reading = false;
    if (!options.preventClose) await writer.close();
  } catch (error) {
    if (!options.preventAbort && (reading || signal?.aborted)) await writer.abort(error);
    if (!options.preventCancel && (!reading || signal?.aborted)) await reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    reader.releaseLock();
    writer.releaseLock();
  }
}
