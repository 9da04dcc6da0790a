import { Worker } from 'node:worker_threads';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { createSlots } from '../../queues/slots.ts';
import type { PageText } from './render-page.ts';

/** Reads pages away from the thread that serves calls. Rejects with `page-unreadable`, or with the reason of the signal. */
export type ReadPage = (page: { readonly html: string; readonly url: string }, signal: AbortSignal) => Promise<PageText>;

const workerFile = new URL(import.meta.url.endsWith('.ts') ? './page-worker.ts' : './page-worker.js', import.meta.url);
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
const maxAtOnce = 2;

/** Makes a reader that gives each page a thread of its own, of bounded memory, for `maxMs`: a page may be made to be slow. */
export function createPageReader({ maxMs }: { readonly maxMs: number }): ReadPage {
  const slots = createSlots(maxAtOnce);
  return async (page, signal) => {
    const leave = await slots.enter(signal);
    try {
      return await readInWorker(page, maxMs, signal);
    } finally {
      leave();
    }
  };
}

async function readInWorker(page: Parameters<ReadPage>[0], maxMs: number, signal: AbortSignal): Promise<PageText> {
  signal.throwIfAborted();
  const worker = new Worker(workerFile, {
    workerData: page,
    resourceLimits,
    env: {},
    argv: [],
    stdin: false,
    stdout: true,
    stderr: true,
  });
  const ended = Promise.withResolvers<PageText>();
  worker.once('message', (text: PageText) => ended.resolve(text));
  worker.once('error', (cause) => ended.reject(unreadable('it is too large or too deep to be read', cause)));
  worker.once('exit', () => ended.reject(unreadable('reading it ended early')));
  const timer = setTimeout(() => ended.reject(unreadable(`it could not be read within ${maxMs} ms`)), maxMs);
  const abort = () => ended.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await ended.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function unreadable(reason: string, cause?: unknown): HotcellError {
  return new HotcellError('page-unreadable', `The page came, but ${reason}.`, cause === undefined ? {} : { cause });
}
