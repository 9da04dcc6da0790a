import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { Duplex } from 'node:stream';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { GuestChannel, type GuestLoss } from '../guest-channel.ts';
import { GuestOutput } from '../guest-output.ts';
import { type GuestProcess, subtractUsage } from '../guest-process.ts';
import { type DenoStart, denoArguments } from './deno-flags.ts';
import { explainDenoRefusals } from './deno-refusals.ts';
import { killGroup, type ProcessBook, readProcessUsage, signalGroup } from './process-book.ts';

/** What a process is started from. */
export interface SpawnParts extends DenoStart {
  readonly binary: string;
  /** Where a process without files of its own stands; empty. */
  readonly emptyDir: string;
  readonly book: ProcessBook;
  /** The command, as words, that starts another one and has it end with the daemon; empty where there is none. */
  readonly withParent: readonly string[];
}

const startMs = 20_000;
/** Blocks of 1 KiB that its data may take, whatever its limit says: a bound for what grows between two looks. */
const dataBlocks = 2_000_000;
/** No permission of Deno's guards the graphics of the machine; this is the name of no driver. */
const noGraphics = { DENO_WEBGPU_BACKEND: 'none' };
/** What `ulimit -f` counts in. */
const fileBlockBytes = 512;

/** Starts a process: no environment, nothing inherited but the channel, bounds of the system around it. */
export async function startDenoProcess(parts: SpawnParts): Promise<GuestProcess> {
  const child = spawnBounded(parts);
  const channel = child.stdio[3];
  const { pid } = child;
  if (pid === undefined || !(channel instanceof Duplex)) throw new Error('Deno could not be started.');
  parts.book.note(pid);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let loss: GuestLoss | undefined;
  let base = { cpuMs: 0, rssBytes: 0 };
  const kill = (): void => killGroup(pid);
  const session = new GuestChannel(channel, (why) => {
    loss = why;
    kill();
  });
  const output = new GuestOutput(kill);
  child.stdout?.on('data', output.stdout).on('error', () => undefined);
  child.stderr?.on('data', output.stderr).on('error', () => undefined);
  const started: GuestProcess = {
    session,
    output,
    isAlive: () => loss === undefined,
    usage: () => subtractUsage(readProcessUsage(pid), base),
    kill: () => session.lose({ kind: 'ended', reason: 'it was ended' }),
    rest: () => {
      if (loss === undefined) signalGroup(pid, 'SIGSTOP');
    },
    wake: () => {
      if (loss === undefined) signalGroup(pid, 'SIGCONT');
    },
    explainRefusals: (text, plugin) =>
      explainDenoRefusals(text, { plugin: plugin.replace(/\.[cm]?[jt]sx?$/, ''), cwd: parts.files.cwd ?? parts.emptyDir }),
    explainEnd: async () => ({}),
    exited,
  };
  child.once('exit', () => {
    parts.book.forget(pid);
    session.lose({ kind: 'ended', reason: 'its process ended' });
  });
  const timer = setTimeout(kill, startMs);
  try {
    await session.ready;
  } catch {
    throw new HotcellError('engine-failed', 'Deno ended before it could run the plugin.', {
      fix: 'Run hotcell doctor: it says which Deno is used, and whether it starts.',
    });
  } finally {
    clearTimeout(timer);
  }
  base = readProcessUsage(pid) ?? base;
  return started;
}

function spawnBounded(parts: SpawnParts): ChildProcess {
  const { binary, files, emptyDir } = parts;
  // A shell sets the bounds of the system and is replaced by Deno; what is no bound of this system is passed over.
  const size =
    files.maxFileBytes === undefined ? '' : `ulimit -f ${Math.ceil(files.maxFileBytes / fileBlockBytes)}; trap '' XFSZ; `;
  const script = `ulimit -c 0; ulimit -d ${dataBlocks} 2>/dev/null; ${size}exec "$0" "$@"`;
  const [first = binary, ...others] = [...parts.withParent, binary, ...denoArguments(parts)];
  return spawn('/bin/sh', ['-c', script, first, ...others], {
    cwd: files.cwd ?? emptyDir,
    // A folder that cannot be: what Deno keeps between runs (storage, caches) would pass from one caller to the next.
    env: { DENO_DIR: `${parts.runner}/none`, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', ...noGraphics },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

/**
 * Words to put before a command, so that the system ends it when this process ends, however that comes: without them a guest
 * that spins outlives a daemon that was killed until the next one finds it. Empty where the system has no such command.
 */
export function findParentDeath(): readonly string[] {
  const words = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'];
  const [command = '', ...others] = words;
  const tried = spawnSync(command, [...others, '/bin/sh', '-c', 'exit 0'], { stdio: 'ignore' });
  return tried.status === 0 ? words : [];
}
