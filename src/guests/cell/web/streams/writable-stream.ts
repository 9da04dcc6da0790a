import type { Strategy } from './stream-core.ts';

/** What a plugin gives to take chunks. */
export interface Sink {
  start?(controller: SinkController): unknown;
  write?(chunk: unknown, controller: SinkController): unknown;
  close?(): unknown;
  abort?(reason: unknown): unknown;
}

/** How a sink ends its stream early. */
export interface SinkController {
  error(reason?: unknown): void;
}

interface Core {
  state: 'writable' | 'closing' | 'closed' | 'errored';
  error: unknown;
  pending: number;
  /** The last thing that was started; writes run one after the other. */
  tail: Promise<unknown>;
  writer: Writer | undefined;
  readonly sink: Sink;
  readonly limit: number;
  readonly sizeOf: (chunk: unknown) => number;
  readonly finished: PromiseWithResolvers<void>;
  readonly controller: SinkController;
}

export class WritableStream {
  readonly #core: Core;

  constructor(sink: Sink = {}, { highWaterMark = 1, size }: Strategy = {}) {
    const finished = Promise.withResolvers<void>();
    finished.promise.catch(() => {});
    const controller: SinkController = { error: (reason) => fail(core, reason) };
    const core: Core = {
      state: 'writable',
      error: undefined,
      pending: 0,
      tail: Promise.resolve(),
      writer: undefined,
      sink,
      limit: highWaterMark,
      sizeOf: (chunk) => (size ? size(chunk) : 1),
      finished,
      controller,
    };
    this.#core = core;
    core.tail = Promise.resolve(sink.start?.(controller)).catch((reason: unknown) => fail(core, reason));
  }

  get locked(): boolean {
    return this.#core.writer !== undefined;
  }
  getWriter(): Writer {
    return new Writer(this.#core);
  }
  async abort(reason?: unknown): Promise<void> {
    if (this.locked) throw new TypeError('A locked stream cannot be aborted; abort its writer');
    await abort(this.#core, reason);
  }
  async close(): Promise<void> {
    if (this.locked) throw new TypeError('A locked stream cannot be closed; close its writer');
    await close(this.#core);
  }
}

class Writer {
  #core: Core | undefined;

  constructor(core: Core) {
    if (core.writer) throw new TypeError('The stream is locked: it has a writer already');
    this.#core = core;
    core.writer = this;
  }

  get closed(): Promise<void> {
    return this.#need().finished.promise;
  }
  get desiredSize(): number | null {
    const core = this.#need();
    return core.state === 'errored' ? null : core.state === 'closed' ? 0 : core.limit - core.pending;
  }
  get ready(): Promise<unknown> {
    const core = this.#need();
    if (core.state === 'errored') return Promise.reject(core.error);
    return core.pending < core.limit ? Promise.resolve() : core.tail.then(() => {});
  }
  async write(chunk: unknown): Promise<void> {
    const core = this.#need();
    if (core.state === 'errored') throw core.error;
    if (core.state !== 'writable') throw new TypeError('The stream is closed: nothing can be written');
    const size = core.sizeOf(chunk);
    core.pending += size;
    await enqueue(core, () => core.sink.write?.(chunk, core.controller)).finally(() => {
      core.pending -= size;
    });
  }
  async close(): Promise<void> {
    await close(this.#need());
  }
  async abort(reason?: unknown): Promise<void> {
    await abort(this.#need(), reason);
  }
  releaseLock(): void {
    if (this.#core) this.#core.writer = undefined;
    this.#core = undefined;
  }

  #need(): Core {
    if (!this.#core) throw new TypeError('The writer was released');
    return this.#core;
  }
}

/** Runs one step after those before it; a failure ends the stream. */
function enqueue(core: Core, step: () => unknown): Promise<void> {
  const run = core.tail.then(async () => {
    if (core.state === 'errored') throw core.error;
    try {
      await step();
    } catch (error) {
      fail(core, error);
      throw error;
    }
  });
  core.tail = run.catch(() => {});
  return run;
}

async function close(core: Core): Promise<void> {
  if (core.state !== 'writable') throw core.state === 'errored' ? core.error : new TypeError('The stream is closed already');
  core.state = 'closing';
  await enqueue(core, () => core.sink.close?.());
  core.state = 'closed';
  core.finished.resolve();
}

async function abort(core: Core, reason: unknown): Promise<void> {
  if (core.state === 'errored' || core.state === 'closed') return;
  fail(core, reason);
  await core.sink.abort?.(reason);
}

function fail(core: Core, reason: unknown): void {
  if (core.state === 'errored' || core.state === 'closed') return;
  core.state = 'errored';
  core.error = reason;
  core.finished.reject(reason);
}
