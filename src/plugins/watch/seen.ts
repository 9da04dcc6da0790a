import { hash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { sep } from 'node:path';
import { openRegular, signatureOf } from '../compile/read-input.ts';
import type { PluginSource } from '../discovery/plugin-source.ts';
import type { BuildInput } from '../generations/generation.ts';

const maxInputBytes = 64 * 1024 * 1024;

/** The files that the present state of a plugin was decided on; while they are the same there is nothing to do. */
export interface Seen {
  readonly realEntry: string;
  /** Signature of the entry before the build read it. */
  readonly entrySignature: string | undefined;
  readonly inputs: readonly BuildInput[];
  /** Files that a failed build looked for in vain. */
  readonly missing: readonly string[];
}

/** What became of the files of a build. `touched` carries the same content under new signatures. */
export type InputComparison =
  | { readonly kind: 'same' }
  | { readonly kind: 'touched'; readonly inputs: readonly BuildInput[] }
  | { readonly kind: 'changed' };

/** Notes what is about to be built; the inputs come with the result. */
export function startSeen(source: PluginSource): Seen {
  return { realEntry: source.realEntry, entrySignature: readSignature(source.realEntry), inputs: [], missing: [] };
}

/** Whether the disk still holds what was seen. */
export function compareSeen(seen: Seen, source: PluginSource, options: { readonly deep: boolean }): InputComparison {
  if (seen.realEntry !== source.realEntry) return { kind: 'changed' };
  if (seen.missing.some((path) => readSignature(path) !== undefined)) return { kind: 'changed' };
  const isEntryAmongInputs = seen.inputs.some((input) => input.path === seen.realEntry);
  // A file that could not even be read is no input; its signature must do.
  if (!isEntryAmongInputs && readSignature(seen.realEntry) !== seen.entrySignature) return { kind: 'changed' };
  return compareInputs(seen.inputs, options);
}

/**
 * Compares what was built with what lies on the disk. Files are read only where the signature differs; `deep` reads
 * the user's own files in any case, for two writes of the same size within one tick of the file system's clock.
 */
export function compareInputs(inputs: readonly BuildInput[], options: { readonly deep: boolean }): InputComparison {
  let refreshed: BuildInput[] | undefined;
  for (const [index, input] of inputs.entries()) {
    const signature = readSignature(input.path);
    if (signature === undefined) return { kind: 'changed' };
    if (signature === input.signature && !(options.deep && isOwnFile(input))) continue;
    const now = readBuildInput(input.path);
    if (now?.sha256 !== input.sha256) return { kind: 'changed' };
    if (now.signature === input.signature) continue;
    refreshed ??= [...inputs];
    refreshed[index] = now;
  }
  return refreshed ? { kind: 'touched', inputs: refreshed } : { kind: 'same' };
}

/** Whether the disk holds exactly these contents, whatever the signatures say. */
export function inputsMatch(
  inputs: readonly BuildInput[],
  read: (path: string) => BuildInput | undefined = readBuildInput,
): boolean {
  return inputs.length > 0 && inputs.every((input) => read(input.path)?.sha256 === input.sha256);
}

/** Whether a file belongs to the user rather than to an installed package. */
export function isOwnFile(input: BuildInput): boolean {
  return !input.path.includes(`${sep}node_modules${sep}`);
}

/**
 * Whether a file was put into place by a rename, so that nobody is writing to it any more: another inode than before,
 * and the inode changed after the last write, which a file that is being written in place never shows.
 */
export function wasRenamedIntoPlace(before: string | undefined, now: string): boolean {
  const [, , , oldInode] = before?.split(':') ?? [];
  const [, writtenNs, changedNs, inode] = now.split(':');
  if (writtenNs === undefined || changedNs === undefined || inode === oldInode) return false;
  return BigInt(changedNs) > BigInt(writtenNs);
}

/** `size:mtimeNs:ctimeNs:ino` of a file; undefined when there is no regular file. Opens nothing. */
export function readSignature(path: string): string | undefined {
  try {
    const stats = lstatSync(path, { bigint: true });
    return stats.isFile() ? signatureOf(stats) : undefined;
  } catch {
    return undefined;
  }
}

/** SHA-256 of a regular file, hex, with the signature as of reading; undefined when it cannot be read. Never blocks on a FIFO. */
export function readBuildInput(path: string): BuildInput | undefined {
  if (readSignature(path) === undefined) return undefined;
  const read = openRegular(path, maxInputBytes);
  return typeof read === 'string' ? undefined : { path, sha256: hash('sha256', read.content, 'hex'), signature: read.signature };
}
