import { hash } from 'node:crypto';
import type { BuildInput } from '../generations/generation.ts';
import type { FileOwner } from './path-policy.ts';
import { type ProposedTexts, type ReadFailure, type ReadInput, readInput } from './read-input.ts';

const maxTotalBytes = 20 * 1024 * 1024;
const maxFiles = 5000;

/** The text of a file, or why it was not taken in. */
export type TakenInput = { readonly text: string } | { readonly failure: ReadFailure | 'too-much' };

/** The files of one build. */
export type InputLedger = ReturnType<typeof createInputLedger>;

/** Starts an empty ledger: each file is read once, so that what is hashed is what is bundled. */
export function createInputLedger(proposed?: ProposedTexts) {
  const reads = new Map<string, { read: ReadInput; owner: FileOwner }>();
  let total = 0;
  let hasPassing = false;

  /** Takes a file that was read before the build began. */
  function add(read: ReadInput, owner: FileOwner): void {
    total += read.bytes;
    reads.set(read.input.path, { read, owner });
  }
  return {
    /** What the build may read, in words. */
    bounds: `${maxFiles} files or ${maxTotalBytes / 1024 / 1024} MB`,
    add,
    /** The text of a file whose real path the policy let through. */
    read(realPath: string, owner: FileOwner): TakenInput {
      const known = reads.get(realPath);
      if (known) return { text: known.read.text };
      if (reads.size >= maxFiles) return { failure: 'too-much' };
      const read = readInput(realPath, proposed);
      hasPassing ||= read === 'passing';
      if (typeof read === 'string') return { failure: read };
      if (total + read.bytes > maxTotalBytes) return { failure: 'too-much' };
      add(read, owner);
      return { text: read.text };
    },
    /** The text of a file that was read, for code frames. */
    textOf: (realPath: string) => reads.get(realPath)?.read.text,
    /** What was read so far. */
    texts: () => [...reads.values()].map(({ read }) => read.text),
    /** The files that were read and belong to the plugin. */
    ownFiles: () =>
      [...reads].filter(([, entry]) => entry.owner === 'plugin').map(([path, entry]) => ({ path, text: entry.read.text })),
    inputs: () => [...reads.values()].map((entry) => entry.read.input),
    /** A file was not read because of the machine, not because of the file. */
    hasPassingFailure: () => hasPassing,
  };
}

/** One hash over all inputs. Paths are relative to the root folder, so that moving the folder changes nothing. */
export function hashInputs(inputs: readonly BuildInput[], showPath: (path: string) => string): string {
  const lines = inputs.map((input) => `${showPath(input.path)}\0${input.sha256}\n`).sort();
  return hash('sha256', lines.join(''), 'hex');
}
