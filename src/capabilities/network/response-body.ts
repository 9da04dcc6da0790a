import { Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ByteAccount } from './byte-budget.ts';

/** A body, whole or cut at the limit. */
export interface BodyRead {
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
}

/** How a body is encoded, how much of it is read, and who pays for the memory. */
export interface ReadOptions {
  readonly coding: string;
  readonly maxBytes: number;
  readonly account: ByteAccount;
}

const mostCodings = 3;
const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliFlush = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

const decoderByCoding: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip(flush)],
  ['x-gzip', () => createGunzip(flush)],
  ['deflate', () => createInflate(flush)],
  ['br', () => createBrotliDecompress(brotliFlush)],
]);

/**
 * Reads and decodes a body. Neither what comes over the wire nor what comes out of the decoder passes `maxBytes`: the
 * rest is left unread and `truncated` says so. An unknown coding is handed on as it is. The body is destroyed in any case.
 */
export async function readBody(body: Readable, options: ReadOptions): Promise<BodyRead> {
  const decoders = createDecoders(options.coding);
  const wire = { cut: false };
  const source = Readable.from(limitBytes(body, options.maxBytes, wire), { objectMode: false });
  const streams: Readable[] = [body, source, ...decoders];
  // Whatever is destroyed early complains to somebody: errors that matter reach the loop below.
  for (const stream of streams) stream.on('error', () => {});
  try {
    const decoded = decoders.reduce<Readable>((from, to) => from.on('error', (error) => to.destroy(error)).pipe(to), source);
    const { bytes, truncated } = await collect(decoded, options);
    return { bytes, truncated: truncated || wire.cut };
  } finally {
    for (const stream of streams) stream.destroy();
  }
}

function createDecoders(coding: string): Transform[] {
  const codings = coding
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '' && part !== 'identity');
  if (codings.length > mostCodings) {
    throw new HotcellError('network-failed', `The response is encoded more than ${mostCodings} times over.`);
  }
  const makers = codings.reverse().map((part) => decoderByCoding.get(part));
  return makers.includes(undefined) ? [] : makers.flatMap((make) => (make ? [make()] : []));
}

async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  wire: { cut: boolean },
): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  for await (const chunk of body) {
    if (chunk.length > left) {
      wire.cut = true;
      if (left > 0) yield chunk.subarray(0, left);
      return;
    }
    left -= chunk.length;
    yield chunk;
  }
}

async function collect(stream: AsyncIterable<Uint8Array>, { maxBytes, account }: ReadOptions): Promise<BodyRead> {
  const chunks: Uint8Array[] = [];
  let left = maxBytes;
  for await (const chunk of stream) {
    const kept = chunk.subarray(0, left);
    account.take(kept.length);
    chunks.push(kept);
    if (chunk.length > left) return { bytes: Buffer.concat(chunks), truncated: true };
    left -= chunk.length;
  }
  return { bytes: Buffer.concat(chunks), truncated: false };
}
