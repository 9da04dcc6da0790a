/** The state machine of a readable stream, and the reader over it. */

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

export class CountQueuingStrategy implements Strategy {
  readonly highWaterMark: number;
  constructor({ highWaterMark }: { readonly highWaterMark: number }) {
    this.highWaterMark = Number(highWaterMark);
  }
  size(_chunk?: unknown): number {
    return 1;
  }
}

export class ByteLengthQueuingStrategy extends CountQueuingStrategy {
  override size(chunk: { readonly byteLength: number }): number {
    return chunk.byteLength;
  }
}

/** The end of a stream at which chunks go in. */
export interface Controller {
  readonly desiredSize: number | null;
  enqueue(chunk: unknown): void;
  close(): void;
  error(reason?: unknown): void;
}

/** What a read gives. */
export type ReadResult = { readonly done: boolean; readonly value: unknown };

/** The whole state of one stream; readers share it. */
export interface Core {
  state: 'readable' | 'closed' | 'errored';
  error: unknown;
  queue: { readonly chunk: unknown; readonly size: number }[];
  queued: number;
  reads: { readonly resolve: (result: ReadResult) => void; readonly reject: (reason: unknown) => void }[];
  closing: boolean;
  pulling: boolean;
  pullAgain: boolean;
  disturbed: boolean;
  reader: { noteEnd(core: Core): void } | undefined;
  source: Source;
  readonly limit: number;
  readonly sizeOf: (chunk: unknown) => number;
  readonly controller: Controller;
}

/** The state of a new stream. */
export function createCore(source: Source, { highWaterMark = 1, size }: Strategy): Core {
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
        pullStream(core);
      },
      close() {
        if (core.state !== 'readable' || core.closing) throw new TypeError('The stream is closed already');
        core.closing = true;
        if (core.queue.length === 0) endStream(core);
      },
      error: (reason) => failStream(core, reason),
    },
  };
  return core;
}

/** Asks the source for more, one request at a time, while somebody waits or there is room. */
export function pullStream(core: Core): void {
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
        pullStream(core);
      },
      (reason) => failStream(core, reason),
    );
}

/** Marks a stream as ended and tells who waits. */
export function endStream(core: Core): void {
  core.state = 'closed';
  for (const read of core.reads.splice(0)) read.resolve({ done: true, value: undefined });
  core.reader?.noteEnd(core);
}

/** Marks a stream as broken and tells who waits. */
export function failStream(core: Core, reason: unknown): void {
  if (core.state !== 'readable') return;
  core.state = 'errored';
  core.error = reason;
  core.queue = [];
  for (const read of core.reads.splice(0)) read.reject(reason);
  core.reader?.noteEnd(core);
}

/** Ends a stream from its reading side. */
export async function cancelStream(core: Core, reason: unknown): Promise<void> {
  core.disturbed = true;
  if (core.state === 'errored') throw core.error;
  if (core.state === 'closed') return;
  core.queue = [];
  endStream(core);
  await core.source.cancel?.(reason);
}

/** The default reader of a stream. */
export class Reader {
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
      if (core.closing && core.queue.length === 0) endStream(core);
      else pullStream(core);
      return { done: false, value: next.chunk };
    }
    if (core.state === 'closed') return { done: true, value: undefined };
    return new Promise((resolve, reject) => {
      core.reads.push({ resolve, reject });
      pullStream(core);
    });
  }
  async cancel(reason?: unknown): Promise<void> {
    await cancelStream(this.#need(), reason);
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
