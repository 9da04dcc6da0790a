/** node:timers/promises. */
interface GlobalTimers {
  readonly setTimeout: (callback: () => void, ms: number) => unknown;
  readonly clearTimeout: (timer: unknown) => void;
}

const { clearTimeout, setTimeout: startTimer }: GlobalTimers = Object(globalThis);

/** What the functions take beside the delay. */
interface WaitOptions {
  readonly signal?: {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: 'abort', listener: () => void): void;
  };
}

export function setTimeout<Value>(ms = 1, value?: Value, { signal }: WaitOptions = {}): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal.reason));
    const timer = startTimer(() => resolve(value), ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(abortError(signal.reason));
    });
  });
}

export function setImmediate<Value>(value?: Value, options?: WaitOptions): Promise<Value | undefined> {
  return setTimeout(0, value, options);
}

export async function* setInterval<Value>(ms = 1, value?: Value, options?: WaitOptions): AsyncGenerator<Value | undefined> {
  for (;;) yield await setTimeout(ms, value, options);
}

export const scheduler = {
  wait: (ms: number, options?: WaitOptions) => setTimeout(ms, undefined, options),
  yield: () => setImmediate(),
};

function abortError(cause: unknown): Error {
  return Object.assign(new Error('The operation was aborted', { cause }), { name: 'AbortError', code: 'ABORT_ERR' });
}
