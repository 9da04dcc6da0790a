import { askThread } from '../../../concurrency/ask-thread.ts';
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
 * thread of its own. Rejects with `time-exceeded`, with `load-failed` when the thread ends without an
 * answer, or with the reason of the signal.
 */
export async function buildModule(
  request: FreezeRequest,
  { prelude, bounds }: { readonly prelude: Prelude; readonly bounds: BuildBounds },
): Promise<FreezeResult> {
  const parts: ModuleParts = { runtime: new Uint8Array(readRuntime()), portable: await loadPortableCode(), prelude };
  const { wallMs, signal } = bounds;
  return askThread<FreezeResult>(
    workerFile,
    { request, parts },
    {
      maxMs: wallMs,
      resourceLimits,
      env: codeCacheEnvironment(),
      ...(signal === undefined ? {} : { signal }),
      fail: (reason, cause) => (cause instanceof Error ? cause : endedEarly(reason)),
      failSlow: () => tooSlow(wallMs),
    },
  );
}

function endedEarly(reason: string): HotcellError {
  return new HotcellError('load-failed', `The plugin was not loaded: ${reason}.`, {
    fix: 'Build it again; when the machine is short of memory, end something else first.',
  });
}

function tooSlow(wallMs: number): HotcellError {
  return new HotcellError('time-exceeded', `Loading the plugin took longer than ${wallMs} ms.`, {
    fix: 'Do less when the module is loaded: move the work into the handler.',
  });
}
