import { type AnswerNow, readRequest } from './host-answer.ts';
import { Shape } from './shape.ts';

const text = Shape.String();
const decodeRequest = Shape.Object({
  label: Shape.String({ maxLength: 100 }),
  fatal: Shape.Boolean(),
  ignoreBOM: Shape.Boolean(),
});
const byteEncodings = ['utf8', 'utf16le', 'latin1', 'base64', 'base64url', 'hex'] as const;
const fromTextRequest = Shape.Object({ text: Shape.String(), encoding: Shape.Literals(byteEncodings) });
const toTextRequest = Shape.Literals(byteEncodings);

/** Text and bytes: UTF-8 and legacy encodings, base64, the encodings of Buffer. */
export const textAnswers: Readonly<Record<string, AnswerNow>> = {
  'text.encode': (payload) => new TextEncoder().encode(readRequest(text, payload, 'text.encode')),
  'text.decode': (payload, body) => {
    const { label, fatal, ignoreBOM } = readRequest(decodeRequest, payload, 'text.decode');
    try {
      return JSON.stringify(new TextDecoder(label, { fatal, ignoreBOM }).decode(body));
    } catch {
      return undefined;
    }
  },
  'text.label': (payload) => {
    try {
      return new TextDecoder(payload.slice(0, 100)).encoding;
    } catch {
      return undefined;
    }
  },
  'base64.write': (payload) => {
    const binary = readRequest(text, payload, 'base64.write');
    return isBinary(binary) ? JSON.stringify(Buffer.from(binary, 'latin1').toString('base64')) : undefined;
  },
  'base64.read': (payload) => {
    try {
      return JSON.stringify(atob(readRequest(text, payload, 'base64.read')));
    } catch {
      return undefined;
    }
  },
  'bytes.from': (payload) => {
    const request = readRequest(fromTextRequest, payload, 'bytes.from');
    return Buffer.from(request.text, request.encoding);
  },
  'bytes.text': (payload, body) => {
    const encoding = readRequest(toTextRequest, payload, 'bytes.text');
    return JSON.stringify(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(encoding));
  },
};

function isBinary(value: string): boolean {
  return /^[\0-\xff]*$/.test(value);
}
