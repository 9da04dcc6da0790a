import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GuestUsage } from '../guest-process.ts';

// Fixed by the ABI of Linux for what /proc shows.
const ticksPerSecond = 100;
const pageBytes = 4096;

/** Remembers on disk which processes run, so that the next daemon can end what a crashed one left behind. */
export type ProcessBook = ReturnType<typeof openProcessBook>;

/** Opens the book in a folder, and ends every process that still stands in it and is the one that was meant. */
export function openProcessBook(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    endLeftOver(folder, name);
    rmSync(join(folder, name), { force: true });
  }
  return {
    note(pid: number): void {
      const ticks = readStartTicks(pid);
      if (ticks !== undefined) writeFileSync(join(folder, String(pid)), ticks, { mode: 0o600 });
    },
    forget(pid: number): void {
      rmSync(join(folder, String(pid)), { force: true });
    },
  };
}

/** A number is given to another process sooner or later: only with the same start is it the same. */
function endLeftOver(folder: string, name: string): void {
  const pid = Number(name);
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  if (readStartTicks(pid) !== readFileSync(join(folder, name), 'utf8')) return;
  killGroup(pid);
}

/** Ends a process and all that it started. */
export function killGroup(pid: number): void {
  signalGroup(pid, 'SIGKILL');
}

/** Sends a signal to a process and all that it started. */
export function signalGroup(pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already.
  }
}

/** Reads the usage of a process where the system shows it (Linux); undefined elsewhere and for a process that is gone. */
export function readProcessUsage(pid: number): GuestUsage | undefined {
  const fields = readStat(pid);
  if (!fields) return undefined;
  const [user, system, resident] = [fields[11], fields[12], fields[21]].map(Number);
  if (user === undefined || system === undefined || resident === undefined) return undefined;
  return { cpuMs: ((user + system) * 1000) / ticksPerSecond, rssBytes: resident * pageBytes };
}

/** When a process started, in ticks since the machine did: with its number it names a process for ever. */
export function readStartTicks(pid: number): string | undefined {
  return readStat(pid)?.[19];
}

/** The fields behind the name of the program, which may hold anything. */
function readStat(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
