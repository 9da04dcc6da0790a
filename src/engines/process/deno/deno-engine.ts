import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BorderHost } from '../../../border/border.ts';
import { limitTable } from '../../../config/limits.ts';
import type { PlaceBounds } from '../../../config/quotas/quota.ts';
import { quotas } from '../../../config/quotas.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { provideGuestRunner } from '../../../guests/runner.ts';
import type { Engine, ScriptTraits } from '../../engine.ts';
import { GuestEngine } from '../guest-engine.ts';
import type { GuestProcess } from '../guest-process.ts';
import { type FileFlags, keyOfFlags, noFiles } from './deno-flags.ts';
import { findParentDeath, startDenoProcess } from './deno-process.ts';
import { requireDeno } from './find-deno.ts';
import { readFileFlags, watchFiles } from './grant-watch.ts';
import { openProcessBook } from './process-book.ts';

/** What the engine works with. */
export interface DenoEngineOptions {
  readonly dataDir: string;
  /** Names that no path may hold, whatever is granted. */
  readonly forbiddenSegments: readonly string[];
  /** Calls that run at once. */
  readonly places?: PlaceBounds;
  /** Kept processes that wait for their next call, and processes that are ready for one; at most. */
  readonly maxKept?: number;
  readonly maxReady?: number;
  /** Finds the binary; throws a HotcellError with what to install. */
  readonly findBinary?: () => string;
}

/** What Deno is for a plugin that may move to it. */
export const denoTraits: ScriptTraits = {
  carries: ['builtin', 'global'],
  brings: "a process of its own with Node's built-ins, files only as granted, network only through the daemon",
  compiles: true,
};

const heapMb = limitTable.memoryBytes.max / 1024 / 1024 + 64;

/**
 * Makes the engine that runs plugins in Deno processes, each with exactly the files that are granted to its call and no other
 * permission. What the plugin asks of the daemon goes over a private channel; processes end with the daemon.
 */
export function createDenoEngine(options: DenoEngineOptions): Engine {
  return new GuestEngine({
    name: 'deno',
    script: denoTraits,
    findMissing: async () => findFault(options.findBinary ?? requireDeno),
    places: options.places ?? quotas['deno.places'],
    aside: quotas['deno.aside'],
    maxKept: options.maxKept ?? quotas['cells.kept'].inAll,
    maxReady: options.maxReady ?? 2,
    start: createStarter(options),
    keyOf: keyOfFlags,
    none: noFiles,
    readSetting: (host) => readFiles(host, options.forbiddenSegments),
    watchSetting: watchFiles,
    preparesNext: true,
  });
}

async function readFiles(host: BorderHost, forbidden: readonly string[]): Promise<FileFlags> {
  const { files, notes } = await readFileFlags(host, forbidden);
  for (const text of notes) host.log({ level: 'warn', text, atMs: Date.now() });
  return files;
}

function findFault(find: () => string): string | undefined {
  try {
    find();
    return undefined;
  } catch (error) {
    return error instanceof HotcellError ? `${error.message} ${error.fix}` : 'It cannot be started.';
  }
}

/** Starts processes; what all of them need is only made ready with the first. */
function createStarter(options: DenoEngineOptions): (files: FileFlags) => Promise<GuestProcess> {
  const setUp = async () => {
    const binary = (options.findBinary ?? requireDeno)();
    const dataDir = resolve(options.dataDir);
    const folder = join(dataDir, 'deno');
    const emptyDir = join(folder, 'empty');
    mkdirSync(emptyDir, { recursive: true, mode: 0o700 });
    const book = openProcessBook(join(folder, 'processes'));
    return { binary, runner: await provideGuestRunner(dataDir, 'deno'), emptyDir, book, withParent: findParentDeath() };
  };
  let setup: ReturnType<typeof setUp> | undefined;
  return async (files) => {
    setup ??= setUp();
    // A binary that was not there may be there at the next try.
    setup.catch(() => {
      setup = undefined;
    });
    return startDenoProcess({ ...(await setup), files, heapMb });
  };
}
