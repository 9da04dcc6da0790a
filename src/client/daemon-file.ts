import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The bundled program knows what it was made of; sources that run as they are do not. */
declare const HOTCELL_BUILD: string;

/** A hash of this program; undefined where the sources run as they are. */
export const thisBuild = typeof HOTCELL_BUILD === 'undefined' ? undefined : HOTCELL_BUILD;

/** What a running daemon leaves in its data directory, so that clients find it. */
export interface DaemonFile {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** A hash of the program that it runs; none where the sources run as they are. */
  readonly build?: string | undefined;
}

/** Says where a daemon listens; atomic. */
export function writeDaemonFile(dataDir: string, content: Omit<DaemonFile, 'build'>): void {
  const file = pathOf(dataDir);
  writeFileSync(`${file}.${content.pid}`, `${JSON.stringify({ ...content, build: thisBuild })}\n`, { mode: 0o600 });
  renameSync(`${file}.${content.pid}`, file);
}

/** Whether a daemon runs the very program that asks; unknown when one of the two runs its sources as they are. */
export function isSameProgram({ build }: DaemonFile): boolean | undefined {
  return build === undefined || thisBuild === undefined ? undefined : build === thisBuild;
}

/** Takes it away again, unless another daemon wrote it since. */
export function removeDaemonFile(dataDir: string, pid: number): void {
  if (readDaemonFile(dataDir)?.pid === pid) rmSync(pathOf(dataDir), { force: true });
}

/** Reads it; undefined when there is none, or it is nothing that a daemon wrote. */
export function readDaemonFile(dataDir: string): DaemonFile | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(pathOf(dataDir), 'utf8'));
    return isDaemonFile(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

/** By hand, because every command reads it, and reading a checker of schemas takes longer than most commands. */
function isDaemonFile(content: unknown): content is DaemonFile {
  const { url, pid, version }: { url?: unknown; pid?: unknown; version?: unknown } = Object(content);
  return typeof url === 'string' && Number.isInteger(pid) && Number(pid) > 0 && typeof version === 'string';
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'daemon.json');
}
