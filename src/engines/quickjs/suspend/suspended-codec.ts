import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { BorderAnswer, BorderCrossing } from '../../../border/border.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { freeBytes } from './free-bytes.ts';
import type { SuspendedCall } from './suspended-call.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Rises when the layout changes, or what the guest's memory means to the host. */
const VERSION = 1;
const MAGIC = Buffer.from('HCSC');
const DIGEST_BYTES = 32;
const PREFIX_BYTES = MAGIC.length + 1 + DIGEST_BYTES;
/** A cell has at most 160 MB, and the recording and the questions a few more. */
const maxContentBytes = 256 * 1024 * 1024;
const LENGTHS_BYTES = 8;

const count = Type.Integer({ minimum: 0 });
const bytes = Type.String({ pattern: '^[A-Za-z0-9+/]*={0,2}$' });
const storedAnswer = Type.Union([
  Type.Object({ ok: Type.Literal(true), payload: Type.String(), body: Type.Optional(bytes) }),
  Type.Object({ ok: Type.Literal(false), code: Type.String(), message: Type.String() }),
]);
const storedHeader = Compile(
  Type.Object({
    programKey: Type.String(),
    base: Type.String(),
    seed: Type.Tuple([Type.Integer(), Type.Integer(), Type.Integer()]),
    startedAtMs: Type.Number(),
    used: Type.Object({
      cpuMs: Type.Number({ minimum: 0 }),
      hostCalls: count,
      logLines: count,
      logBytes: count,
      progress: Type.Optional(count),
      isLogFull: Type.Optional(Type.Boolean()),
    }),
    crossings: Type.Array(Type.Object({ id: Type.Integer(), op: Type.String(), payload: Type.String(), answer: storedAnswer })),
    recordingBytes: count,
    recordingComplete: Type.Boolean(),
    open: Type.Array(
      Type.Object({
        id: Type.Integer(),
        op: Type.String(),
        payload: Type.String(),
        body: Type.Optional(bytes),
        firesInMs: Type.Optional(count),
      }),
    ),
  }),
);

/**
 * Packs a suspended call. Layout: `HCSC`, u8 version, SHA-256 of what follows; deflated: u32 length of the header, u32 length
 * of the image, header as JSON, image, delta.
 */
export async function encodeSuspended({ image, delta, ...header }: SuspendedCall): Promise<Uint8Array> {
  const json = Buffer.from(
    JSON.stringify({ ...header, crossings: header.crossings.map(storeCrossing), open: header.open.map(withText) }),
  );
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(json.length, 0);
  lengths.writeUInt32LE(image.length, 4);
  // What shared memory holds is copied first: zlib takes none.
  const whole = Buffer.concat([lengths, json, image, delta]);
  const content = await deflate(whole, { level: 1 });
  freeBytes(whole);
  return Buffer.concat([MAGIC, Buffer.of(VERSION), digest(content), content]);
}

/** Unpacks a suspended call; rejects with `interrupted` when one bit of it is not as it was written. */
export async function decodeSuspended(packed: Uint8Array): Promise<SuspendedCall> {
  const file = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  if (file.length < PREFIX_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC)) throw refuse('is damaged');
  if (file[MAGIC.length] !== VERSION) throw refuse('was written by another version of Hotcell');
  const content = file.subarray(PREFIX_BYTES);
  if (!digest(content).equals(file.subarray(MAGIC.length + 1, PREFIX_BYTES))) throw refuse('is damaged');
  try {
    return readContent(await inflate(content, { maxOutputLength: maxContentBytes }));
  } catch (error) {
    throw error instanceof HotcellError ? error : refuse('is damaged');
  }
}

function readContent(content: Buffer): SuspendedCall {
  const headerEnd = LENGTHS_BYTES + content.readUInt32LE(0);
  const imageEnd = headerEnd + content.readUInt32LE(4);
  if (imageEnd > content.length) throw refuse('is damaged');
  const header: unknown = JSON.parse(content.toString('utf8', LENGTHS_BYTES, headerEnd));
  if (!storedHeader.Check(header)) throw refuse('is damaged');
  return {
    ...header,
    crossings: header.crossings.map((crossing) => ({ ...crossing, answer: readAnswer(crossing.answer) })),
    open: header.open.map(({ body, ...question }) => ({ ...question, ...(body !== undefined && { body: fromBase64(body) }) })),
    // Copies: a view would carry the whole content along to a worker thread.
    image: new Uint8Array(content.subarray(headerEnd, imageEnd)),
    delta: new Uint8Array(content.subarray(imageEnd)),
  };
}

function readAnswer(
  stored: { ok: true; payload: string; body?: string } | { ok: false; code: string; message: string },
): BorderAnswer {
  if (!stored.ok) return stored;
  return { ok: true, payload: stored.payload, ...(stored.body !== undefined && { body: fromBase64(stored.body) }) };
}

function storeCrossing({ answer, ...crossing }: BorderCrossing): object {
  return { ...crossing, answer: answer.ok ? withText(answer) : answer };
}

function withText<Carrier extends { readonly body?: Uint8Array | undefined }>({ body, ...rest }: Carrier): object {
  return body === undefined ? rest : { ...rest, body: toBase64(body) };
}

/** The refusal to go on with a suspended call; `what` is said of what was kept of it. */
export function refuseResume(what: string): HotcellError {
  return new HotcellError('interrupted', `The call cannot go on: ${what}.`);
}

function refuse(what: string): HotcellError {
  return refuseResume(`what was kept of it ${what}`);
}

function digest(content: Uint8Array): Buffer {
  return createHash('sha256').update(content).digest();
}

function toBase64(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64');
}

function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
