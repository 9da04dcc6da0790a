import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Caller } from '../src/callers/caller.ts';
import type { CallAnswer } from '../src/calls/call-types.ts';
import { loadConfig } from '../src/config/read/load.ts';
import { startDaemon } from '../src/main.ts';
import { parsePermissions } from '../src/permissions/parse.ts';
import { createDaemonLog } from '../src/secrets/daemon-log.ts';
import { fewThreads, giveWarmCache } from './data-dir.ts';
import { sharedTypes } from './shared-builds.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** A daemon without doors over the repository's own plugin folders, with data of its own. */
export async function startExampleDaemon(flags: {
  readonly grantRequested: boolean;
  readonly plugins?: readonly string[];
  /** Of every tool; a few when nothing is said. */
  readonly keepRecordingsPerTool?: number;
}) {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-examples-'));
  const config = loadConfig({
    flags: {
      data: join(folder, 'data'),
      plugins: flags.plugins ?? [join(root, 'plugins')],
      grantRequested: flags.grantRequested,
    },
    env: {},
    cwd: flags.plugins ? folder : root,
    parsePermissions,
  });
  giveWarmCache(config.dataDir);
  const { keepRecordingsPerTool } = flags;
  const daemon = await startDaemon({
    config: {
      ...config,
      ...fewThreads,
      executions: { ...config.executions, ...(keepRecordingsPerTool !== undefined && { keepRecordingsPerTool }) },
    },
    ...sharedTypes,
    version: '0.0.0',
    listen: false,
    log: createDaemonLog(),
  });
  const { caller, plugins, tools } = daemon.parts;
  return {
    plugins,
    tools,
    parts: daemon.parts,
    call: (ref: string, args: unknown, who: Caller = { id: 'local', role: 'admin' }): Promise<CallAnswer> =>
      caller.call({ ref, arguments: args, caller: who }),
    close: async () => {
      await daemon.close('the test is over');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
