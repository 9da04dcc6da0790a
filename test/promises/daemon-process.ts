import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallAnswer } from '../../src/calls/call-types.ts';
import { type Client, createHttpClient } from '../../src/client/client.ts';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { fewThreads, giveWarmCache } from '../data-dir.ts';

const command = fileURLToPath(new URL('../../bin/hotcell.js', import.meta.url));

/** A daemon in a process of its own, started by the command that people use. */
export interface DaemonProcess {
  readonly folder: string;
  readonly url: string;
  readonly token: string;
  readonly client: Client;
  readonly pid: number;
  /** What it logged so far. */
  output(): string;
  call(ref: string, args?: Record<string, unknown>, options?: { idempotencyKey?: string }): Promise<CallAnswer>;
  /** Resident memory in MiB. */
  residentMiB(): number;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>;
  /** Asks it to end and waits; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** A folder for one daemon, with plugins and a config in it. */
export function makeDaemonFolder(plugins: Readonly<Record<string, string>>, config: Record<string, unknown> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-promise-'));
  mkdirSync(join(folder, 'plugins'));
  for (const [name, text] of Object.entries(plugins)) {
    mkdirSync(dirname(join(folder, 'plugins', name)), { recursive: true });
    writeFileSync(join(folder, 'plugins', name), text);
  }
  writeFileSync(join(folder, 'hotcell.config.json'), JSON.stringify({ port: 0, ...fewThreads, ...config }));
  giveWarmCache(join(folder, '.hotcell'));
  return folder;
}

/** Removes the folder of a daemon that has ended. */
export function removeDaemonFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Starts a daemon over a folder and waits until it listens and every plugin has a state. `env` goes over that of the test;
 * `program` is the command of another installation.
 */
export async function startDaemonProcess(
  folder: string,
  env: NodeJS.ProcessEnv = {},
  program: string = command,
): Promise<DaemonProcess> {
  const child = spawn(process.execPath, [program, 'start', '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const output = collect(child);
  const url = await waitForUrl(child, output);
  const token = readFileSync(join(folder, '.hotcell', 'token'), 'utf8').trim();
  const client = createHttpClient({ url, token });
  const pid = child.pid ?? 0;
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
    return child.exitCode;
  };
  return {
    folder,
    url,
    token,
    client,
    pid,
    output,
    call: (ref, args = {}, options = {}) => client.invoke(toolContracts.call, { ref, arguments: args, ...options }),
    residentMiB: () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

function collect(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  return () => output;
}

function waitForUrl(child: ChildProcess, output: () => string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const look = () => {
    const url = /"msg":"listening on (http[^"]+)"/.exec(output())?.[1];
    if (url !== undefined) resolve(url);
  };
  child.stdout?.on('data', look);
  child.once('close', () => reject(new Error(`The daemon ended: ${output()}`)));
  return promise.finally(() => child.stdout?.off('data', look));
}
