import { sep } from 'node:path';
import type { BuildInput } from '../generations/generation.ts';
import { readBuildInput, readSignature } from './signature.ts';

/** What became of the files of a build. `touched` carries the same content under new signatures. */
export type InputComparison =
  | { readonly kind: 'same' }
  | { readonly kind: 'touched'; readonly inputs: readonly BuildInput[] }
  | { readonly kind: 'changed' };

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
