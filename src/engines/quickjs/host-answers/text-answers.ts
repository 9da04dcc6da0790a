import { type AnswerNow, asks, orNothing } from './host-answer.ts';
import { Shape } from './shape.ts';

const text = Shape.String();
const decoding = Shape.Object({ label: Shape.String({ maxLength: 100 }), fatal: Shape.Boolean(), ignoreBOM: Shape.Boolean() });
const encoding = Shape.Literals(['utf8', 'utf16le', 'latin1', 'base64', 'base64url', 'hex']);

/** Text and bytes: UTF-8 and legacy encodings, base64, the encodings of Buffer. */
export const textAnswers: Readonly<Record<string, AnswerNow>> = {
  'text.encode': asks(text, (value) => new TextEncoder().encode(value)),
  'text.decode': asks(decoding, ({ label, ...how }, body) =>
    orNothing(() => JSON.stringify(new TextDecoder(label, how).decode(body))),
  ),
  'text.label': (payload) => orNothing(() => new TextDecoder(payload.slice(0, 100)).encoding),
  'base64.write': asks(text, (binary) =>
    isBinary(binary) ? JSON.stringify(Buffer.from(binary, 'latin1').toString('base64')) : undefined,
  ),
  'base64.read': asks(text, (value) => orNothing(() => JSON.stringify(atob(value)))),
  'bytes.from': asks(Shape.Object({ text, encoding }), (request) => Buffer.from(request.text, request.encoding)),
  'bytes.text': asks(encoding, (name, { buffer, byteOffset, byteLength }) =>
    JSON.stringify(Buffer.from(buffer, byteOffset, byteLength).toString(name)),
  ),
};

function isBinary(value: string): boolean {
  return /^[\0-\xff]*$/.test(value);
}
