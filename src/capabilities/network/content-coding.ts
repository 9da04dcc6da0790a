import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { HotcellError } from '../../errors/hotcell-error.ts';

const maxCodings = 3;
const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliFlush = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };
// RFC 9659: a window of 8 MiB is all that a sender may ask of whoever decodes; without a bound it is 128 MiB.
const zstdOptions = {
  flush: constants.ZSTD_e_flush,
  finishFlush: constants.ZSTD_e_flush,
  params: { [constants.ZSTD_d_windowLogMax]: 23 },
};

const decoderByCoding: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip(flush)],
  ['x-gzip', () => createGunzip(flush)],
  ['deflate', () => createInflate(flush)],
  ['br', () => createBrotliDecompress(brotliFlush)],
  ['zstd', () => createZstdDecompress(zstdOptions)],
]);

/** What fetch tells servers that it can decode. */
export const acceptedCodings = 'gzip, br, zstd';

/**
 * The decoders for a `content-encoding` header in the order in which to apply them; none when a coding is unknown. Throws
 * `network-failed` when there are more than anybody needs.
 */
export function createDecoders(coding: string): Transform[] {
  const codings = coding
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '' && part !== 'identity');
  if (codings.length > maxCodings) {
    throw new HotcellError('network-failed', `The response is encoded more than ${maxCodings} times over.`);
  }
  const makers = codings.reverse().map((part) => decoderByCoding.get(part));
  return makers.includes(undefined) ? [] : makers.flatMap((make) => (make ? [make()] : []));
}
