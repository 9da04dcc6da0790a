import { hash } from 'node:crypto';
import type { BuildInput } from '../generations/generation.ts';
import type { FileOwner } from './path-policy.ts';
import { type ProposedTexts, type ReadFailure, type ReadInput, readInput } from './read-input.ts';

const maxTotalBytes = 20 * 1024 * 1024;
const maxFiles = 5000;

/** The files of one build, each read once: what is hashed is what is bundled. */
export interface InputLedger {
  /** What the build may read, in words. */
  readonly bounds: string;
  /** The text of a file whose real path the policy let through. */
  read(realPath: string, owner: FileOwner): TakenInput;
  /** Takes a file that was read before the build began. */
  add(read: ReadInput, owner: FileOwner): void;
  /** The text of a file that was read, for code frames. */
  textOf(realPath: string): string | undefined;
  /** What was read so far. */
  texts(): string[];
  /** The files that were read and belong to the plugin. */
  ownFiles(): Array<{ path: string; text: string }>;
  inputs(): BuildInput[];
  /** A file was not read because of the machine, not because of the file. */
  hasPassingFailure(): boolean;
}

/** The text of a file, or why it was not taken in. */
export type TakenInput = { readonly text: string } | { readonly failure: ReadFailure | 'too-much' };

/** Starts an empty ledger. */
export function createInputLedger(proposed?: ProposedTexts): InputLedger {
  const reads = new Map<string, { read: ReadInput; owner: FileOwner }>();
  let total = 0;
  let hasPassing = false;
  function add(read: ReadInput, owner: FileOwner): void {
    total += read.bytes;
    reads.set(read.input.path, { read, owner });
  }
  return {
    bounds: `${maxFiles} files or ${maxTotalBytes / 1024 / 1024} MB`,
    add,
    read(realPath, owner) {
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
    textOf: (realPath) => reads.get(realPath)?.read.text,
    texts: () => [...reads.values()].map(({ read }) => read.text),
    ownFiles: () =>
      [...reads].filter(([, entry]) => entry.owner === 'plugin').map(([path, entry]) => ({ path, text: entry.read.text })),
    inputs: () => [...reads.values()].map((entry) => entry.read.input),
    hasPassingFailure: () => hasPassing,
  };
}

/** One hash over all inputs. Paths are relative to the root folder, so that moving the folder changes nothing. */
export function hashInputs(inputs: readonly BuildInput[], showPath: (path: string) => string): string {
  const lines = inputs.map((input) => `${showPath(input.path)}\0${input.sha256}\n`).sort();
  return hash('sha256', lines.join(''), 'hex');
}
