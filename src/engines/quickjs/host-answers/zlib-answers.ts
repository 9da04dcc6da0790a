import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateRawSync,
  inflateSync,
  unzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import { type AnswerNow, asks } from './host-answer.ts';
import { HostRefusal } from './host-refusal.ts';
import { Shape } from './shape.ts';

/** Nothing is unpacked beyond this, whatever a guest allows itself. */
const maxOutputBytes = 32 * 1024 * 1024;
const maxInputBytes = 32 * 1024 * 1024;
/**
 * A thread cannot be ended while it packs. Made-up data costs the best level of gzip five seconds for each MB, and the best
 * quality of Brotli ten; so the more there is, the less is tried.
 */
const efforts = [
  { maxBytes: 128 * 1024, level: 9, quality: 11 },
  { maxBytes: 2 * 1024 * 1024, level: 6, quality: 5 },
  { maxBytes: maxInputBytes, level: 3, quality: 3 },
] as const;
const defaultLevel = 6;

const work = {
  gzip: gzipSync,
  gunzip: gunzipSync,
  deflate: deflateSync,
  inflate: inflateSync,
  deflateRaw: deflateRawSync,
  inflateRaw: inflateRawSync,
  brotliCompress: brotliCompressSync,
  brotliDecompress: brotliDecompressSync,
  zstdCompress: zstdCompressSync,
  zstdDecompress: zstdDecompressSync,
  unzip: unzipSync,
};
const request = Shape.Object({
  kind: Shape.Keys(work),
  level: Shape.Optional(Shape.Number()),
  quality: Shape.Optional(Shape.Number()),
  maxOutputBytes: Shape.Optional(Shape.Number()),
});

/** Packing and unpacking. */
export const zlibAnswers: Readonly<Record<string, AnswerNow>> = {
  zlib: asks(request, ({ kind, level = defaultLevel, quality = 11, ...asked }, body) => {
    if (body.length > maxInputBytes) {
      throw new HostRefusal('payload-too-large', `zlib takes ${maxInputBytes} bytes at once at most, got ${body.length}.`);
    }
    const maxOutputLength = Math.max(1, Math.min(maxOutputBytes, Math.trunc(asked.maxOutputBytes ?? maxOutputBytes)));
    const most = efforts.find(({ maxBytes }) => body.length <= maxBytes) ?? efforts[2];
    const mostLevel = Math.min(level === -1 ? defaultLevel : level, most.level);
    const brotli = { [constants.BROTLI_PARAM_QUALITY]: Math.max(0, Math.min(quality, most.quality)) };
    const zstd = { [constants.ZSTD_c_compressionLevel]: mostLevel };
    try {
      return work[kind](body, {
        maxOutputLength,
        ...(kind === 'brotliCompress' ? { params: brotli } : kind === 'zstdCompress' ? { params: zstd } : {}),
        // A level that there is none is refused by zlib itself, in its words.
        ...(kind !== 'zstdCompress' && { level: level > 9 ? level : mostLevel }),
      });
    } catch (error) {
      if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
        throw new HostRefusal('payload-too-large', `The unpacked data is larger than ${maxOutputLength} bytes.`);
      }
      throw error;
    }
  }),
};
