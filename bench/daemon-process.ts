import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  /** Memory of the process, in MB; undefined where the system does not tell. */
  residentMb(): number | undefined;
  /** What the thread that serves requests has used of the processor so far, in ms; undefined where the system does not tell. */
  cpuMs(): number | undefined;
  close(): Promise<void>;
}

/** A daemon in a process of its own, started as a user starts it. */
export interface DaemonProcess extends ServerProcess {
  readonly token: string;
}

const bin = fileURLToPath(new URL('../bin/hotcell.js', import.meta.url));
/** Linux counts processor time in hundredths of a second for programs. */
const tickMs = 10;

/** Starts it with these plugins and waits until all of them serve. */
export async function startDaemonProcess(plugins: Readonly<Record<string, string>>, config?: object): Promise<DaemonProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-bench-process-'));
  const pluginDir = join(folder, 'plugins');
  const dataDir = join(folder, 'data');
  mkdirSync(pluginDir);
  for (const [file, text] of Object.entries(plugins)) writeFileSync(join(pluginDir, file), text);
  if (config !== undefined) writeFileSync(join(folder, 'hotcell.config.json'), JSON.stringify(config));
  const args = [bin, 'start', '--plugins', pluginDir, '--data', dataDir, '--port', '0', '--json'];
  const server = await startServerProcess(args, folder);
  await untilReady(server.url);
  return {
    ...server,
    token: readFileSync(join(dataDir, 'token'), 'utf8').trim(),
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a program that says where it is "listening on". */
export async function startServerProcess(args: readonly string[], cwd: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    url: await readUrl(child),
    cpuMs: () => readCpuMs(child.pid ?? 0),
    residentMb: () => readResidentMb(child.pid ?? 0),
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk);
    const url = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
    if (url === undefined) continue;
    // A daemon whose output nobody reads any more ends.
    stdout?.resume();
    return url;
  }
  throw new Error(`the daemon ended before it listened: ${text}`);
}

async function untilReady(url: string): Promise<void> {
  for (;;) {
    const { ok } = await fetch(`${url}/readyz`);
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Fields 14 and 15 are the time as a program and as the system; the name before them may hold anything but its last bracket. */
function readCpuMs(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return undefined;
  }
}

function readResidentMb(pid: number): number | undefined {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Number(kib) / 1000;
  } catch {
    return undefined;
  }
}
