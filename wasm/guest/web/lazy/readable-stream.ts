import { type PipeOptions, pipe } from './pipe.ts';
import type { WritableStream } from './writable-stream.ts';

/** What a plugin gives to make a stream. */
export interface Source {
  start?(controller: Controller): unknown;
  pull?(controller: Controller): unknown;
  cancel?(reason: unknown): unknown;
}

/** How much a stream keeps ready. */
export interface Strategy {
  readonly highWaterMark?: number;
  size?(chunk: unknown): number;
}

/** The end of a stream at which chunks go in. */
export interface Controller {
  readonly desiredSize: number | null;
  enqueue(chunk: unknown): void;
  close(): void;
  error(reason?: unknown): void;
}

type ReadResult = { readonly done: boolean; readonly value: unknown };

/** The whole state of one stream; readers share it. */
interface Core {
  state: 'readable' | 'closed' | 'errored';
  error: unknown;
  queue: { readonly chunk: unknown; readonly size: number }[];
  queued: number;
  reads: { readonly resolve: (result: ReadResult) => void; readonly reject: (reason: unknown) => void }[];
  closing: boolean;
  pulling: boolean;
  pullAgain: boolean;
  disturbed: boolean;
  reader: Reader | undefined;
  source: Source;
  readonly limit: number;
  readonly sizeOf: (chunk: unknown) => number;
  readonly controller: Controller;
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
        pull(core);
      },
      (reason) => fail(core, reason),
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
    await cancel(this.#core, reason);
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
  async *values(options: { preventCancel?: boolean } = {}): AsyncGenerator<unknown> {
    const reader = this.getReader();
    let finished = false;
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          finished = true;
          throw error;
        });
        finished = done;
        if (done) return;
        yield value;
      }
    } finally {
      if (!finished && !options.preventCancel) await reader.cancel();
      reader.releaseLock();
    }
  }
  [Symbol.asyncIterator](options?: { preventCancel?: boolean }): AsyncGenerator<unknown> {
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

class Reader {
  #core: Core | undefined;
  readonly closed: Promise<void>;
  #settleClosed: { resolve: () => void; reject: (reason: unknown) => void };

  constructor(core: Core) {
    if (core.reader) throw new TypeError('The stream is locked: it has a reader already');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#settleClosed = { resolve, reject };
    promise.catch(() => {});
    this.#core = core;
    core.reader = this;
    if (core.state !== 'readable') this.noteEnd(core);
  }

  async read(): Promise<ReadResult> {
    const core = this.#need();
    core.disturbed = true;
    if (core.state === 'errored') throw core.error;
    const next = core.queue.shift();
    if (next) {
      core.queued -= next.size;
      if (core.closing && core.queue.length === 0) end(core);
      else pull(core);
      return { done: false, value: next.chunk };
    }
    if (core.state === 'closed') return { done: true, value: undefined };
    return new Promise((resolve, reject) => {
      core.reads.push({ resolve, reject });
      pull(core);
    });
  }
  async cancel(reason?: unknown): Promise<void> {
    await cancel(this.#need(), reason);
  }
  releaseLock(): void {
    const core = this.#core;
    if (!core) return;
    this.#core = undefined;
    core.reader = undefined;
    const released = new TypeError('The reader was released');
    for (const read of core.reads.splice(0)) read.reject(released);
    this.#settleClosed.reject(released);
  }
  /** Not for plugins: the stream has ended. */
  noteEnd(core: Core): void {
    if (core.state === 'errored') this.#settleClosed.reject(core.error);
    else this.#settleClosed.resolve();
  }

  #need(): Core {
    if (!this.#core) throw new TypeError('The reader was released');
    return this.#core;
  }
}

function createCore(source: Source, { highWaterMark = 1, size }: Strategy): Core {
  const core: Core = {
    state: 'readable',
    error: undefined,
    queue: [],
    queued: 0,
    reads: [],
    closing: false,
    pulling: false,
    pullAgain: false,
    disturbed: false,
    reader: undefined,
    source,
    limit: highWaterMark,
    sizeOf: (chunk) => (size ? size(chunk) : 1),
    controller: {
      get desiredSize() {
        return core.state === 'errored' ? null : core.state === 'closed' ? 0 : core.limit - core.queued;
      },
      enqueue(chunk) {
        if (core.state !== 'readable' || core.closing) throw new TypeError('The stream is closed: nothing can be added');
        const waiting = core.reads.shift();
        if (waiting) waiting.resolve({ done: false, value: chunk });
        else {
          const chunkSize = core.sizeOf(chunk);
          core.queue.push({ chunk, size: chunkSize });
          core.queued += chunkSize;
        }
        pull(core);
      },
      close() {
        if (core.state !== 'readable' || core.closing) throw new TypeError('The stream is closed already');
        core.closing = true;
        if (core.queue.length === 0) end(core);
      },
      error: (reason) => fail(core, reason),
    },
  };
  return core;
}

/** Asks the source for more, one request at a time, while somebody waits or there is room. */
function pull(core: Core): void {
  const wanted = core.state === 'readable' && !core.closing && (core.reads.length > 0 || core.queued < core.limit);
  if (!wanted || !core.source.pull) return;
  if (core.pulling) {
    core.pullAgain = true;
    return;
  }
  core.pulling = true;
  Promise.resolve()
    .then(() => core.source.pull?.(core.controller))
    .then(
      () => {
        core.pulling = false;
        if (!core.pullAgain) return;
        core.pullAgain = false;
        pull(core);
      },
      (reason) => fail(core, reason),
    );
}

function end(core: Core): void {
  core.state = 'closed';
  for (const read of core.reads.splice(0)) read.resolve({ done: true, value: undefined });
  core.reader?.noteEnd(core);
}

function fail(core: Core, reason: unknown): void {
  if (core.state !== 'readable') return;
  core.state = 'errored';
  core.error = reason;
  core.queue = [];
  for (const read of core.reads.splice(0)) read.reject(reason);
  core.reader?.noteEnd(core);
}

async function cancel(core: Core, reason: unknown): Promise<void> {
  core.disturbed = true;
  if (core.state === 'errored') throw core.error;
  if (core.state === 'closed') return;
  core.queue = [];
  end(core);
  await core.source.cancel?.(reason);
}

function tee(stream: ReadableStream): [ReadableStream, ReadableStream] {
  const reader = stream.getReader();
  const ends: Controller[] = [];
  const cancelled = [false, false];
  let reading: Promise<void> | undefined;
  const readOnce = async () => {
    try {
      const { done, value } = await reader.read();
      ends.forEach((end, index) => {
        if (cancelled[index]) return;
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
        cancelled[index] = true;
        return cancelled[0] && cancelled[1] ? reader.cancel(reason) : undefined;
      },
    });
  return [branch(0), branch(1)];
}
