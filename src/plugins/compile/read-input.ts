import { hash } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isPassingError } from '../../errors/system-error.ts';
import type { BuildInput } from '../generations/generation.ts';

/** Largest file that a build reads. */
export const maxFileBytes = 5 * 1024 * 1024;

/** One file as it was read. */
export interface ReadInput {
  readonly input: BuildInput;
  readonly text: string;
  readonly bytes: number;
}

/** Texts that a build reads instead of what lies on the disk, by the real path of the file. */
export type ProposedTexts = ReadonlyMap<string, string>;

/** Why a file was not read. */
export type ReadFailure = 'missing' | 'not-regular' | 'too-large' | 'unreadable' | 'passing';

/**
 * Reads one file by its real path. Devices, pipes and sockets are recognised on the open descriptor; opening does not
 * wait for a writer and does not follow a link that was put there after the path was resolved.
 */
export function readInput(realPath: string, proposed?: ProposedTexts): ReadInput | ReadFailure {
  const text = proposed?.get(realPath);
  if (text !== undefined) return describeProposed(realPath, text);
  const read = openRegular(realPath, maxFileBytes);
  if (typeof read === 'string') return read;
  const { content, signature } = read;
  const sha256 = hash('sha256', content, 'hex');
  return { input: { path: realPath, sha256, signature }, text: decode(content), bytes: content.length };
}

/** The bytes of a regular file with its signature as of reading, or why it was not read. */
export function openRegular(path: string, maxBytes: number): { content: Buffer; signature: string } | ReadFailure {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile()) return 'not-regular';
    if (stats.size > BigInt(maxBytes)) return 'too-large';
    const content = readAll(descriptor, Number(stats.size), maxBytes);
    return content.length > maxBytes ? 'too-large' : { content, signature: signatureOf(stats) };
  } catch (error) {
    return failureOf(error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function describeProposed(path: string, text: string): ReadInput | ReadFailure {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxFileBytes) return 'too-large';
  return { input: { path, sha256: hash('sha256', text, 'hex'), signature: '' }, text, bytes };
}

/** The cheap signature of a file, `size:mtimeNs:ctimeNs:ino`. */
export function signatureOf(stats: BigIntStats): string {
  return `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.ino}`;
}

// A file may grow while it is read; one byte more than the limit is enough to know.
function readAll(descriptor: number, expected: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  let room = Buffer.allocUnsafe(expected + 1);
  for (;;) {
    const count = readSync(descriptor, room, 0, room.length, null);
    if (count === 0) break;
    chunks.push(room.subarray(0, count));
    total += count;
    if (total > maxBytes) break;
    room = Buffer.allocUnsafe(64 * 1024);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function decode(content: Buffer): string {
  const text = content.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function failureOf(error: unknown): ReadFailure {
  if (isPassingError(error)) return 'passing';
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
  if (code === 'ELOOP' || code === 'EISDIR' || code === 'ENXIO') return 'not-regular';
  return 'unreadable';
}
