import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Caller } from '../src/callers/caller.ts';
import type { CallRequest } from '../src/calls/call-types.ts';
import { loadConfig } from '../src/config/read/load.ts';
import type { Settings } from '../src/config/schema.ts';
import type { EventEnvelope } from '../src/events/event.ts';
import { startDaemon } from '../src/main.ts';
import type { DaemonOptions } from '../src/operations/daemon-types.ts';
import { parsePermissions } from '../src/permissions/parse.ts';
import { createDaemonLog } from '../src/secrets/daemon-log.ts';
import { fewThreads, giveWarmCache } from './data-dir.ts';
import { sharedTypes } from './shared-builds.ts';

const operator: Caller = { id: 'local', role: 'admin' };

/** A daemon in this process over plugins of a test, by file name (`folder`: of one that was closed, to start it anew); whatever they request is granted unless settings say otherwise. */
export async function startSmallDaemon(
  plugins: Readonly<Record<string, string>>,
  settings: Settings = {},
  options: { readonly listen?: boolean; readonly dataDir?: string; readonly folder?: string } & Pick<DaemonOptions, 'resolver'> &
    Partial<Pick<DaemonOptions, 'log'>> = {},
) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'hotcell-small-'));
  mkdirSync(join(folder, 'plugins'), { recursive: true });
  for (const [file, text] of Object.entries(plugins)) writeFileSync(join(folder, 'plugins', file), text);
  writeFileSync(join(folder, 'hotcell.config.yaml'), stringify({ grantRequested: true, port: 0, ...fewThreads, ...settings }));
  const readConfig = () =>
    loadConfig({
      flags: options.dataDir === undefined ? {} : { data: options.dataDir },
      env: {},
      cwd: folder,
      parsePermissions,
    });
  const config = readConfig();
  giveWarmCache(config.dataDir);
  const events: EventEnvelope[] = [];
  const daemon = await startDaemon({
    config,
    reread: { cwd: folder, readConfig: async () => readConfig() },
    ...sharedTypes,
    version: '0.0.0',
    ...(options.resolver === undefined ? {} : { resolver: options.resolver }),
    listen: options.listen ?? false,
    onEvent: (event) => events.push(event),
    log: options.log ?? createDaemonLog(),
  });
  const { parts } = daemon;
  return {
    daemon,
    parts,
    folder,
    events,
    call: (ref: string, args: unknown = {}, more: Partial<CallRequest> = {}) =>
      parts.caller.call({ ref, arguments: args, caller: operator, ...more }),
    close: async () => {
      await daemon.close('the test is over');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
