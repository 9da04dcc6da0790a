import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** How a program ended by itself: as a sentence, and whether its own last words say more. */
export interface ProgramEnd {
  readonly sentence: string;
  readonly hasLastWords: boolean;
}

/** A program that speaks MCP over its standard streams, wherever it runs. */
export interface RunningProgram {
  /** Of a process of this machine. */
  readonly pid?: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when nothing more comes of it. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Asks it to end with all that it started, or ends it. Must not throw. */
  signal(how: 'SIGTERM' | 'SIGKILL'): void;
}

/** What is started on this machine. */
export interface LocalProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
}

/** So long whoever left the process group may hold the streams of a program that ended. */
const graceMs = 500;
const groups = new Set<number>();
process.once('exit', () => {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
});

/**
 * Starts a program in a process group of its own, which ends with it and with the daemon. Rejects with the error of the system
 * when it cannot be started.
 */
export async function startLocalProgram({ command, args, env, cwd }: LocalProgram): Promise<RunningProgram> {
  const child = spawn(command, [...args], { env: { ...env }, cwd, detached: true, stdio: 'pipe' });
  const over = Promise.withResolvers<ProgramEnd>();
  const { pid } = child;
  if (pid !== undefined) groups.add(pid);
  child.once('exit', (code, signal) => {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    const end = { sentence: `The program ended ${how}.`, hasLastWords: true };
    // What it started ends with it.
    if (pid !== undefined) signalGroup(pid, 'SIGKILL');
    const letGo = setTimeout(() => over.resolve(end), graceMs);
    child.once('close', () => {
      clearTimeout(letGo);
      if (pid !== undefined) groups.delete(pid);
      over.resolve(end);
    });
  });
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const { stdin, stdout, stderr } = child;
  return {
    ...(pid === undefined ? {} : { pid }),
    stdin,
    stdout,
    stderr,
    ended: over.promise,
    signal: (how) => {
      if (pid !== undefined) signalGroup(pid, how);
    },
  };
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}
