import { createHash } from 'node:crypto';
import type { Program } from '../../engine.ts';
import type { ImageCache } from '../image-cache.ts';
import type { SuspendedCall } from './suspended-call.ts';
import { refuseResume } from './suspended-codec.ts';

/** Between the key of a program and the digest of an image that is not its usual one. No key of a program holds it. */
const MARK = '~image~';

/**
 * The program over which a suspended call goes on. Its image may have been built again since, and need not be the same byte
 * for byte: then the call brings its own along. Rejects with `interrupted` when code or base are not those of then.
 */
export async function fitProgram(
  program: Program,
  { programKey, base, image }: SuspendedCall,
  images: Pick<ImageCache, 'peek' | 'fetch' | 'fingerprint'>,
): Promise<Program> {
  if (programKey !== program.key) throw refuseResume('the code of its plugin is not the one that it began with');
  if (base !== images.fingerprint.toString('hex')) throw refuseResume('the sandbox itself was built anew since it began');
  const usual = images.peek(program.key) ?? (await images.fetch(program).catch(() => undefined));
  if (usual !== undefined && Buffer.compare(usual, image) === 0) return program;
  const key = `${program.key}${MARK}${createHash('sha256').update(image).digest('hex')}`;
  const readImage = async () => Buffer.concat([images.fingerprint, image]);
  return { ...program, key, readImage, saveImage: () => {} };
}

/** The key of the program itself, also for one that `fitProgram` made. */
export function ordinaryKey(programKey: string): string {
  return programKey.split(MARK, 1)[0] ?? programKey;
}
