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
} from 'node:zlib';
import type { AnswerNow } from './host-answer.ts';
import { readRequest } from './host-answer.ts';
import { HostRefusal } from './host-refusal.ts';
import { Shape } from './shape.ts';

/** Nothing is unpacked beyond this, whatever a guest allows itself. */
const maxOutputBytes = 32 * 1024 * 1024;
const maxInputBytes = 32 * 1024 * 1024;
/** The best quality of Brotli takes a second for each MB; beyond this size a quick one does. */
const maxSlowBytes = 512 * 1024;
const quickQuality = 5;

const work = {
  gzip: gzipSync,
  gunzip: gunzipSync,
  deflate: deflateSync,
  inflate: inflateSync,
  deflateRaw: deflateRawSync,
  inflateRaw: inflateRawSync,
  brotliCompress: brotliCompressSync,
  brotliDecompress: brotliDecompressSync,
  unzip: unzipSync,
};
const kinds = [
  'gzip',
  'gunzip',
  'deflate',
  'inflate',
  'deflateRaw',
  'inflateRaw',
  'brotliCompress',
  'brotliDecompress',
  'unzip',
] as const;
const request = Shape.Object({
  kind: Shape.Literals(kinds),
  level: Shape.Optional(Shape.Number()),
  quality: Shape.Optional(Shape.Number()),
  maxOutputBytes: Shape.Optional(Shape.Number()),
});

/** Packing and unpacking. */
export const zlibAnswers: Readonly<Record<string, AnswerNow>> = {
  zlib: (payload, body) => {
    const { kind, level, quality = 11, ...asked } = readRequest(request, payload, 'zlib');
    if (body.length > maxInputBytes) {
      throw new HostRefusal('payload-too-large', `zlib takes ${maxInputBytes} bytes at once at most, got ${body.length}.`);
    }
    const maxOutputLength = Math.max(1, Math.min(maxOutputBytes, Math.trunc(asked.maxOutputBytes ?? maxOutputBytes)));
    const best = body.length > maxSlowBytes ? quickQuality : 11;
    const params = { [constants.BROTLI_PARAM_QUALITY]: Math.max(0, Math.min(quality, best)) };
    try {
      return work[kind](body, {
        maxOutputLength,
        ...(kind === 'brotliCompress' ? { params } : {}),
        ...(level === undefined ? {} : { level }),
      });
    } catch (error) {
      if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
        throw new HostRefusal('payload-too-large', `The unpacked data is larger than ${maxOutputLength} bytes.`);
      }
      throw error;
    }
  },
};
