import { isAbsolute, resolve } from 'node:path';
import pino from 'pino';
import { type Client, createHttpClient } from '../client/client.ts';
import { exchange } from '../client/http-exchange.ts';
import { createLocalClient } from '../client/local-client.ts';
import { type DaemonAddress, locateDaemon } from '../client/locate.ts';
import type { Config } from '../config/config-types.ts';
import { loadConfig } from '../config/load.ts';
import type { CliFlags } from '../config/sources.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { parsePermissions } from '../permissions/parse.ts';
import type { CliIo } from './io.ts';
import { createStyle, type Style } from './render/style.ts';
import { readVersion } from './version.ts';

/** What every command works with. */
export interface CliSession {
  readonly io: CliIo;
  readonly style: Style;
  readonly version: string;
  print(text: string): void;
  printJson(value: unknown): void;
  /** To stderr, so that stdout stays what was asked for. */
  note(text: string): void;
  /** What the command answers to its shell, when it did not end with an error. */
  exitCode: number;
  readConfig(flags: CliFlags): Config;
  /** The running daemon; throws `daemon-unreachable` without one. */
  connect(flags: CliFlags): Promise<Client>;
  /** The running daemon, or the same parts in this process when there is none. */
  connectOrRun(flags: CliFlags): Promise<Client>;
}

/** Makes what a command works with; nothing is read or opened before a command asks. */
export function createSession(io: CliIo): CliSession {
  const version = readVersion();

  const readConfig = (flags: CliFlags): Config => loadConfig({ flags, env: io.env, cwd: io.cwd, parsePermissions });

  async function findRunning(flags: CliFlags): Promise<DaemonAddress | undefined> {
    const address = locateDaemon({ env: io.env, dataDir: findDataDir(flags, io, readConfig) });
    if (address === undefined || address.isExplicit) return address;
    // What a killed daemon left behind points nowhere.
    return (await isAnswering(address.url)) ? address : undefined;
  }

  return {
    io,
    version,
    style: createStyle(io),
    exitCode: 0,
    print: (text) => void io.stdout.write(text),
    printJson: (value) => void io.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => void io.stderr.write(text),
    readConfig,
    async connect(flags) {
      const address = await findRunning(flags);
      if (address !== undefined) return createHttpClient(address);
      throw new HotcellError(
        'daemon-unreachable',
        `No daemon runs on the data directory ${findDataDir(flags, io, readConfig)}.`,
        {
          fix: 'Start it with hotcell start, or name another with --data DIR or HOTCELL_URL.',
        },
      );
    },
    async connectOrRun(flags) {
      const address = await findRunning(flags);
      if (address !== undefined) return createHttpClient(address);
      const { startDaemon } = await io.loadDaemon();
      const log = pino({ level: 'silent' });
      return createLocalClient(await startDaemon({ config: readConfig(flags), version, listen: false, log }));
    },
  };
}

/** Without reading the config where that is not needed: a broken config must not keep a client from its daemon. */
function findDataDir(flags: CliFlags, io: CliIo, readConfig: (flags: CliFlags) => Config): string {
  const named = flags.data ?? (io.env.HOTCELL_DATA || undefined);
  if (named !== undefined) return isAbsolute(named) ? named : resolve(io.cwd, named);
  if ((io.env.HOTCELL_URL ?? '') !== '') return resolve(io.cwd, '.hotcell');
  return readConfig(flags).dataDir;
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    const answer = await exchange({ url: `${url}/healthz`, method: 'GET', headers: {}, signal: AbortSignal.timeout(2000) });
    answer.resume();
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}
