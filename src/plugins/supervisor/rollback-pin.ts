import { createHash } from 'node:crypto';
import type { BuildInput } from '../generations/generation.ts';
import { isOwnFile, readSignature } from '../watch/seen.ts';

/** The content of the folder that a rollback turned away from. */
export interface Pin {
  readonly contentHash: string;
  /** Tells when and as which files this content was written, see `describeWriting`. */
  readonly writing: string;
}

/**
 * Says of files when they were written and which they are. A file that is saved again says something else, even with the
 * same content; a change of its mode or owner is no writing.
 */
export function describeWriting(inputs: readonly BuildInput[]): string {
  const hash = createHash('sha256');
  for (const path of inputs
    .filter(isOwnFile)
    .map((input) => input.path)
    .sort()) {
    const [, writtenNs = '', , inode = ''] = readSignature(path)?.split(':') ?? [];
    hash.update(`${path}\n${writtenNs} ${inode}\n`);
  }
  return hash.digest('hex');
}

/** The pin as a row keeps it; `parsePin` reads it. */
export function formatPin({ contentHash, writing }: Pin): string {
  return `${contentHash} ${writing}`;
}

/** Reads what `formatPin` wrote. A pin of which only the content is known ends with the next save that is seen. */
export function parsePin(text: string): Pin {
  const [contentHash = '', writing = ''] = text.split(' ');
  return { contentHash, writing };
}
