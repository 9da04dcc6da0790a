import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { BorderAnswer, BorderCrossing, Recording } from '../../border/border.ts';
import type { Redactor } from '../../secrets/secret-types.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** The first byte of a stored recording: how the JSON that follows is packed. */
const plainFormat = 0;
const deflatedFormat = 1;
const leastDeflatedBytes = 512;
const maxDecodedBytes = 256 * 1024 * 1024;

const storedRecording = Compile(
  Type.Object({
    seed: Type.String(),
    startedAtMs: Type.Number(),
    complete: Type.Boolean(),
    logs: Type.Optional(
      Type.Array(Type.Object({ level: Type.Enum(['debug', 'info', 'warn', 'error']), text: Type.String(), atMs: Type.Number() })),
    ),
    crossings: Type.Array(
      Type.Object({
        id: Type.Number(),
        op: Type.String(),
        payload: Type.String(),
        ok: Type.Boolean(),
        answer: Type.String(),
        code: Type.Optional(Type.String()),
        body: Type.Optional(Type.String()),
      }),
    ),
  }),
);

/** Packs a recording. What passes `maxBytes` (before packing) is left out from the end, and `complete` becomes false. */
export async function encodeRecording(recording: Recording, maxBytes: number, redactor?: Redactor): Promise<Uint8Array> {
  const crossings: object[] = [];
  let bytes = 0;
  for (const crossing of recording.crossings) {
    const stored = storeCrossing(crossing);
    bytes += JSON.stringify(stored).length;
    if (bytes > maxBytes) break;
    crossings.push(stored);
  }
  const complete = recording.complete && crossings.length === recording.crossings.length;
  const { seed, startedAtMs, logs = [] } = recording;
  const text = JSON.stringify({ seed, startedAtMs, complete, crossings, ...(logs.length > 0 && { logs }) });
  const json = Buffer.from(redactor === undefined || redactor.isIdle ? text : redactor.json(text));
  if (json.length < leastDeflatedBytes) return Buffer.concat([Buffer.of(plainFormat), json]);
  return Buffer.concat([Buffer.of(deflatedFormat), await deflate(json)]);
}

/** Unpacks a recording; undefined when it is none, or of a format that this version does not know. */
export async function decodeRecording(blob: Uint8Array): Promise<Recording | undefined> {
  try {
    const packed = blob.subarray(1);
    const isPlain = blob[0] === plainFormat;
    if (!isPlain && blob[0] !== deflatedFormat) return undefined;
    const json = isPlain ? Buffer.from(packed) : await inflate(packed, { maxOutputLength: maxDecodedBytes });
    const parsed: unknown = JSON.parse(json.toString('utf8'));
    if (!storedRecording.Check(parsed)) return undefined;
    const crossings = parsed.crossings.map(({ id, op, payload, ...answer }) => ({ id, op, payload, answer: readAnswer(answer) }));
    const { seed, startedAtMs, complete, logs } = parsed;
    return { seed, startedAtMs, complete, crossings, ...(logs !== undefined && { logs }) };
  } catch {
    return undefined;
  }
}

function storeCrossing({ id, op, payload, answer }: BorderCrossing): object {
  if (!answer.ok) return { id, op, payload, ok: false, answer: answer.message, code: answer.code };
  const body = answer.body === undefined ? {} : { body: Buffer.from(answer.body).toString('base64') };
  return { id, op, payload, ok: true, answer: answer.payload, ...body };
}

function readAnswer(stored: { ok: boolean; answer: string; code?: string; body?: string }): BorderAnswer {
  if (!stored.ok) return { ok: false, code: stored.code ?? 'internal', message: stored.answer };
  const body = stored.body === undefined ? {} : { body: new Uint8Array(Buffer.from(stored.body, 'base64')) };
  return { ok: true, payload: stored.answer, ...body };
}
