import { Worker } from 'node:worker_threads';
import { codeCacheEnvironment } from '../../../config/code-cache.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { loadPortableCode, readRuntime } from '../../../guests/portable-code.ts';
import type { Prelude } from '../../../guests/prelude.ts';
import type { FreezeRequest, FreezeResult, ModuleParts } from './freeze.ts';

/** How long loading a plugin may take, and who may cut it short. */
export interface BuildBounds {
  readonly wallMs: number;
  readonly signal?: AbortSignal;
}

const workerFile = new URL(import.meta.url.endsWith('.ts') ? './freeze-worker.ts' : './freeze-worker.js', import.meta.url);
const resourceLimits = { stackSizeMb: 16 };

/**
 * Makes a compiled plugin into an Extism module that needs neither a daemon nor its source. The plugin is loaded once, on a
 * thread of its own. Rejects with `time-exceeded`, or with the reason of the signal.
 */
export async function buildModule(
  request: FreezeRequest,
  { prelude, bounds }: { readonly prelude: Prelude; readonly bounds: BuildBounds },
): Promise<FreezeResult> {
  const parts: ModuleParts = { runtime: new Uint8Array(readRuntime()), portable: await loadPortableCode(), prelude };
  bounds.signal?.throwIfAborted();
  const worker = new Worker(workerFile, {
    workerData: { request, parts },
    resourceLimits,
    env: codeCacheEnvironment(),
    argv: [],
    stdin: false,
  });
  const ended = Promise.withResolvers<FreezeResult>();
  worker.once('message', (result: FreezeResult) => ended.resolve(result));
  worker.once('error', (error) => ended.reject(error));
  const timer = setTimeout(() => ended.reject(tooSlow(bounds.wallMs)), bounds.wallMs);
  const abort = () => ended.reject(bounds.signal?.reason);
  bounds.signal?.addEventListener('abort', abort, { once: true });
  try {
    return await ended.promise;
  } finally {
    clearTimeout(timer);
    bounds.signal?.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function tooSlow(wallMs: number): HotcellError {
  return new HotcellError('time-exceeded', `Loading the plugin took longer than ${wallMs} ms.`, {
    fix: 'Do less when the module is loaded: move the work into the handler.',
  });
}
