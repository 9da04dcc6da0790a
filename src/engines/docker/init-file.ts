import { fileURLToPath } from 'node:url';
import { HotcellError } from '../../errors/hotcell-error.ts';

const architectures: Readonly<Record<string, string>> = { x64: 'x64', arm64: 'arm64' };

/** The first process of containers, for the processor of this machine. Throws `not-supported` for one that has none. */
export function findInitFile(arch: string = process.arch): string {
  const name = architectures[arch];
  if (name !== undefined) return fileURLToPath(new URL(`./init/hotcell-init-${name}`, import.meta.url));
  throw new HotcellError('not-supported', `Commands in containers run on x64 and arm64; this machine is ${arch}.`);
}
