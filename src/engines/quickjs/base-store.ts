import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepFile } from '../../guests/bundle.ts';
import type { Prelude } from '../../guests/prelude.ts';
import { type BaseHeader, type BaseImage, buildBaseImage } from './cell/base-image.ts';
import { createInstanceMaker, quickJsFile } from './cell/instance.ts';

/** Rises when messages between prelude and host change their meaning. */
const BORDER_VERSION = 3;
const DIGEST_BYTES = 32;

/** A base image with the fingerprint that every image made over it carries. */
export interface FingerprintedBase {
  readonly base: BaseImage;
  /** SHA-256 over the bytes of the base: a difference is only right over the very same bytes. */
  readonly fingerprint: Buffer;
}

/** Takes the base image from `<data>/cache`, or builds it (some 100 ms) and leaves it there. */
export async function loadBase(dataDir: string, module: WebAssembly.Module, prelude: Prelude): Promise<FingerprintedBase> {
  const name = createHash('sha256')
    .update(`${BORDER_VERSION}\n${process.version}\n${prelude.hash}\n`)
    .update(readFileSync(quickJsFile))
    .digest('hex');
  const file = join(dataDir, 'cache', `base-${name.slice(0, 32)}.bin`);
  const kept = readKept(file);
  if (kept) return kept;
  const base = await buildBaseImage(await createInstanceMaker(module), prelude.code);
  const bytes = encodeBase(base);
  keepFile(file, Buffer.concat([digest(bytes), bytes]));
  return { base: shareBase(base), fingerprint: digest(bytes) };
}

function readKept(file: string): FingerprintedBase | undefined {
  try {
    const bytes = readFileSync(file);
    const content = bytes.subarray(DIGEST_BYTES);
    const fingerprint = digest(content);
    return fingerprint.equals(bytes.subarray(0, DIGEST_BYTES))
      ? { base: shareBase(decodeBase(content)), fingerprint }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Layout: u32 length of the header, header as JSON, bytes of the reference. */
function encodeBase(base: BaseImage): Buffer {
  const header = Buffer.from(JSON.stringify({ ...base.header, top: base.reference.top }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return Buffer.concat([length, header, base.reference.bytes]);
}

function decodeBase(content: Buffer): BaseImage {
  const length = content.readUInt32LE(0);
  const { top, ...header } = JSON.parse(content.toString('utf8', 4, 4 + length)) as BaseHeader & { top: number };
  return { header, reference: { bytes: content.subarray(4 + length), top } };
}

/** Shared memory: every worker thread reads the one copy. */
function shareBase(base: BaseImage): BaseImage {
  const bytes = Buffer.from(new SharedArrayBuffer(base.reference.bytes.length));
  base.reference.bytes.copy(bytes);
  return { header: base.header, reference: { bytes, top: base.reference.top } };
}

function digest(content: Uint8Array): Buffer {
  return createHash('sha256').update(content).digest();
}
