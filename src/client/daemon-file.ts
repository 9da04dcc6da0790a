import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';

const daemonFile = Type.Object({ url: Type.String(), pid: Type.Integer({ minimum: 1 }), version: Type.String() });

/** What a running daemon leaves in its data directory, so that clients find it. */
export type DaemonFile = Static<typeof daemonFile>;

/** Says where a daemon listens; atomic. */
export function writeDaemonFile(dataDir: string, content: DaemonFile): void {
  const file = pathOf(dataDir);
  writeFileSync(`${file}.${content.pid}`, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(`${file}.${content.pid}`, file);
}

/** Takes it away again, unless another daemon wrote it since. */
export function removeDaemonFile(dataDir: string, pid: number): void {
  if (readDaemonFile(dataDir)?.pid === pid) rmSync(pathOf(dataDir), { force: true });
}

/** Reads it; undefined when there is none, or it is nothing that a daemon wrote. */
export function readDaemonFile(dataDir: string): DaemonFile | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(pathOf(dataDir), 'utf8'));
    return Value.Check(daemonFile, content) ? content : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'daemon.json');
}
