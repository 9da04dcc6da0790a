import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HotcellError } from '../../../../errors/hotcell-error.ts';

/** SHA-256 of the programs that `build.sh` builds: a file that is another one starts nothing. */
const hashesByArch: Readonly<Record<string, string>> = {
  x64: '6768627557968ac23e02c7c1427efd246774fd48813642ffc5f5c5506f904ffc',
  arm64: '6da50981e65c55eda6cc35f872d94c321dc5b70d9862ab75f4f8be95ec54242b',
};
const verified = new Map<string, string>();

/**
 * The first process of containers, for the processor of this machine. Throws `not-supported` for one that has none, and
 * `engine-failed` when the file is not the one that was built.
 */
export function findInitFile(arch: string = process.arch): string {
  const known = verified.get(arch);
  if (known !== undefined) return known;
  const wanted = Object.hasOwn(hashesByArch, arch) ? hashesByArch[arch] : undefined;
  if (wanted === undefined) {
    throw new HotcellError('not-supported', `Commands in containers run on x64 and arm64; this machine is ${arch}.`);
  }
  const file = fileURLToPath(new URL(`./hotcell-init-${arch}`, import.meta.url));
  if (hashFile(file) !== wanted) {
    throw new HotcellError('engine-failed', 'The first process of containers is missing or not the one that was built.', {
      fix: 'Install Hotcell again: npm ci.',
    });
  }
  verified.set(arch, file);
  return file;
}

function hashFile(file: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return undefined;
  }
}
