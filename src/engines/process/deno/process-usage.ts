import { readFileSync } from 'node:fs';
import type { GuestUsage } from '../guest-process.ts';

// Fixed by the ABI of Linux for what /proc shows.
const ticksPerSecond = 100;
const pageBytes = 4096;

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
