import { askThread } from '../../concurrency/ask-thread.ts';
import { createSlots } from '../../concurrency/slots.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
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
      return await askThread<PageText>(workerFile, page, { maxMs, resourceLimits, signal, fail: unreadable });
    } finally {
      leave();
    }
  };
}

function unreadable(reason: string, cause?: unknown): HotcellError {
  return new HotcellError('page-unreadable', `The page came, but ${reason}.`, cause === undefined ? {} : { cause });
}
