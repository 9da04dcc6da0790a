import { once } from 'node:events';
import type { Client } from '../client/client.ts';
import type { DaemonAddress } from '../client/find-daemon.ts';
import type { Config } from '../config/config-types.ts';
import type { CliFlags } from '../config/read/sources.ts';
import { describeNoDaemon, findDataDir } from './data-dir.ts';
import type { CliIo } from './io.ts';
import { createStyle, type Style } from './render/style.ts';
import { readVersion } from './version.ts';

async function speakTo({ url, token, isSameProgram }: DaemonAddress): Promise<Client> {
  const { createHttpClient } = await import('../client/client.ts');
  return createHttpClient({ url, token, isSameProgram });
}

type Exchange = typeof import('../client/http-exchange.ts').exchange;

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
  readConfig(flags: CliFlags): Promise<Config>;
  /** Where the running daemon is, when there is one, and the data directory in which it was looked for. */
  locate(flags: CliFlags): Promise<{ readonly address: DaemonAddress | undefined; readonly dataDir: string }>;
  /** The running daemon; throws `daemon-unreachable` without one. */
  connect(flags: CliFlags): Promise<Client>;
  /** The running daemon, or the same parts in this process when there is none; `keeps` says that what is done lasts. */
  connectOrRun(flags: CliFlags, use: { readonly keeps: boolean }): Promise<Client>;
}

/** Makes what a command works with; nothing is read or opened before a command asks. */
export function createSession(io: CliIo): CliSession {
  const readConfig = async (flags: CliFlags): Promise<Config> => (await import('./read-config.ts')).readConfig(flags, io);

  async function findRunning(flags: CliFlags): Promise<{ address: DaemonAddress | undefined; dataDir: string }> {
    const dataDir = await findDataDir(flags, io, readConfig);
    // What speaks to a daemon is read when a command does.
    const [{ locateDaemon }, { exchange }] = await Promise.all([
      import('../client/find-daemon.ts'),
      import('../client/http-exchange.ts'),
    ]);
    const address = locateDaemon({ env: io.env, dataDir });
    if (address === undefined || address.isExplicit) return { address, dataDir };
    // What a killed daemon left behind points nowhere.
    return { address: (await isAnswering(address.url, exchange)) ? address : undefined, dataDir };
  }

  return {
    io,
    get version() {
      return readVersion();
    },
    style: createStyle(io),
    exitCode: 0,
    print: (text) => void io.stdout.write(text),
    printJson: (value) => void io.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => void io.stderr.write(text),
    readConfig,
    locate: findRunning,
    async connect(flags) {
      const { address, dataDir } = await findRunning(flags);
      if (address === undefined) throw describeNoDaemon(dataDir);
      return speakTo(address);
    },
    async connectOrRun(flags, use) {
      const { address, dataDir } = await findRunning(flags);
      if (address !== undefined) return speakTo(address);
      return (await import('./run-alone.ts')).runAlone(io, { config: await readConfig(flags), dataDir, ...use });
    },
  };
}

// A daemon that is gone refuses the connection at once; one on a busy machine takes its time, and must not be taken for gone.
const maxHealthWaitMs = 30_000;

async function isAnswering(url: string, exchange: Exchange): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(maxHealthWaitMs);
    const answer = await exchange({ url: `${url}/healthz`, method: 'GET', headers: {}, signal });
    // Read to its end, so that the connection serves the next request too.
    await once(answer.resume(), 'end');
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}
