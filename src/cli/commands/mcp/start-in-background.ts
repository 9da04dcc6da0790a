import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DaemonAddress } from '../../../client/find-daemon.ts';
import type { CliFlags } from '../../../config/read/sources.ts';
import { isRunning } from '../../../engines/running-process.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { makeFolders } from '../../../file-system/paths.ts';
import { readPid } from '../../../store/data-dir.ts';
import type { CliSession } from '../../session.ts';

const lookEveryMs = 100;
const maxLogChars = 2000;

/**
 * Starts a daemon that outlives this command, as others may join it, and waits until it answers; `hotcell stop` ends it. What
 * it logs is in `daemon.log` of the data directory. Throws `daemon-unreachable` with the end of that log when it ends at once.
 */
export async function startInBackground(session: CliSession, flags: CliFlags, dataDir: string): Promise<DaemonAddress> {
  const { io } = session;
  makeFolders(dataDir, 0o700);
  const logFile = join(dataDir, 'daemon.log');
  const log = openSync(logFile, 'w', 0o600);
  const words = [
    ...(flags.data === undefined ? [] : ['--data', flags.data]),
    ...(flags.config === undefined ? [] : ['--config', flags.config]),
  ];
  const program = process.argv[1] ?? '';
  // The token of this command is its client's key, with that key's rights: the daemon must not take it for its operator's.
  const { HOTCELL_TOKEN: _key, ...env } = { ...process.env, ...io.env };
  const child = spawn(process.execPath, [program, ...words, 'start', '--json'], {
    cwd: io.cwd,
    env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  let isOver = false;
  child.once('exit', () => {
    isOver = true;
  });
  for (;;) {
    const { address } = await session.locate(flags);
    if (address !== undefined) return address;
    // Another client may have started one at the same moment: that one is waited for.
    if (isOver && !isRunning(readPid(dataDir) ?? Number.NaN)) {
      const said = readFileSync(logFile, 'utf8').slice(-maxLogChars);
      throw new HotcellError('daemon-unreachable', `A daemon was started for this client and ended at once:\n${said}`, {
        fix: `Start it yourself to see why: hotcell start. Its log is ${logFile}.`,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}
