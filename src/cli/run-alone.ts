import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../client/client.ts';
import { createLocalClient } from '../client/local-client.ts';
import type { Config } from '../config/config-types.ts';
import { createDaemonLog } from '../secrets/daemon-log.ts';
import { describeNoDaemon } from './data-dir.ts';
import type { CliIo } from './io.ts';
import { readVersion } from './version.ts';

/** What a command works on that has no daemon. */
interface AloneOptions {
  readonly config: Config;
  readonly dataDir: string;
  /** What the command does is to last; a command that only reads leaves nothing behind. */
  readonly keeps: boolean;
}

/** Starts the parts of a daemon in this process, where there is something for them to work with; throws `daemon-unreachable` elsewhere. */
export async function runAlone(io: CliIo, { config, dataDir, keeps }: AloneOptions): Promise<Client> {
  const present = {
    pluginDirs: config.pluginDirs.filter((folder) => existsSync(folder)),
    wasmDirs: config.wasmDirs.filter((folder) => existsSync(folder)),
    skillDirs: config.skillDirs.filter((folder) => existsSync(folder)),
  };
  const isKept = existsSync(dataDir);
  if (!isKept && config.configFile === undefined && Object.values(present).every((folders) => folders.length === 0)) {
    throw describeNoDaemon(dataDir, `, and for plugins in ${config.pluginDirs.join(', ')}`);
  }
  const passing = isKept || keeps ? undefined : mkdtempSync(join(tmpdir(), 'hotcell-read-'));
  const removePassing = (): void => {
    if (passing !== undefined) rmSync(passing, { recursive: true, force: true });
  };
  try {
    const { startDaemon } = await io.loadDaemon();
    const daemon = await startDaemon({
      config: { ...config, ...present, dataDir: passing ?? dataDir },
      version: readVersion(),
      listen: false,
      log: createDaemonLog(),
    });
    const client = createLocalClient(daemon);
    return { ...client, close: () => client.close().finally(removePassing) };
  } catch (error) {
    removePassing();
    throw error;
  }
}
