import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createCompiler } from '../../../src/plugins/compile/compile.ts';
import { createSchemaReader } from '../../../src/plugins/schema/schema-process.ts';
import { giveWarmCache } from '../../data-dir.ts';
import { openSharedQuickJs } from '../../kept-threads.ts';
import type { SharedParts } from './supervisor-rig.ts';

/** Starts engine, compiler and schema reader for one test file; they end with it. */
export function useSharedParts(options: { readonly sharedDirs?: readonly string[] } = {}): { readonly get: () => SharedParts } {
  let parts: SharedParts | undefined;
  let folder: string | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-engine-'));
    giveWarmCache(folder);
    parts = {
      engine: await openSharedQuickJs({ dataDir: folder, workers: { min: 1, max: 1 } }),
      compiler: createCompiler({ sharedDirs: options.sharedDirs ?? [], builtins: new Map(), refusedBuiltins: new Map() }),
      schemaReader: createSchemaReader(),
    };
  });
  afterAll(async () => {
    await parts?.engine.close();
    await parts?.compiler.close();
    await parts?.schemaReader.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });
  return {
    get() {
      if (!parts) throw new Error('The shared parts are started by beforeAll.');
      return parts;
    },
  };
}
