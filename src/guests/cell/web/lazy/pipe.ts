import type { Reader } from './stream-reader.ts';
import type { WritableStream } from './writable-stream.ts';

/** The options of pipeTo. */
export interface PipeOptions {
  readonly preventClose?: boolean;
  readonly preventAbort?: boolean;
  readonly preventCancel?: boolean;
  readonly signal?: {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: string, listener: () => void): void;
  };
}

/** Moves every chunk, then closes the target; a failure at either end reaches the other. */
export async function pipe(source: { getReader(): Reader }, target: WritableStream, options: PipeOptions = {}): Promise<void> {
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
