import { type Core, cancelStream, endStream, pullStream, type ReadResult } from './stream-core.ts';

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
