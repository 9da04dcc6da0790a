import type { PluginSource } from '../discovery/plugin-source.ts';
import type { BuildInput } from '../generations/generation.ts';
import { compareInputs, type InputComparison } from './compare-inputs.ts';
import { readSignature } from './signature.ts';

/** The files that the present state of a plugin was decided on; while they are the same there is nothing to do. */
export interface Seen {
  readonly realEntry: string;
  /** Signature of the entry before the build read it. */
  readonly entrySignature: string | undefined;
  readonly inputs: readonly BuildInput[];
  /** Files that a failed build looked for in vain. */
  readonly missing: readonly string[];
}

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
 * Whether a file was put into place by a rename, so that nobody is writing to it any more: another inode than before,
 * and the inode changed after the last write, which a file that is being written in place never shows.
 */
export function wasRenamedIntoPlace(before: string | undefined, now: string): boolean {
  const [, , , oldInode] = before?.split(':') ?? [];
  const [, writtenNs, changedNs, inode] = now.split(':');
  if (writtenNs === undefined || changedNs === undefined || inode === oldInode) return false;
  return BigInt(changedNs) > BigInt(writtenNs);
}
