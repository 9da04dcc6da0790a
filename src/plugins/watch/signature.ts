import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { signatureOf } from '../compile/read-input.ts';
import type { BuildInput } from '../generations/generation.ts';

const maxInputBytes = 64 * 1024 * 1024;

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
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile() || stats.size > maxInputBytes) return undefined;
    const sha256 = hash('sha256', readFileSync(descriptor), 'hex');
    return { path, sha256, signature: signatureOf(stats) };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
