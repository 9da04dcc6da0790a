/** Bytes and text. UTF-8 and the legacy encodings are the host's; the guest only cuts and joins. */
import { askNow } from '../border.ts';
import { DOMException } from './dom-exception.ts';

const { parse, stringify } = JSON;

/** A copy of the bytes of a buffer or view, or undefined when `source` is neither. */
export function toBytes(source: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength).slice();
  if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Uint8Array(source).slice();
  return undefined;
}

/** The bytes of several chunks in a row. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** UTF-8 of a text; lone surrogates become U+FFFD. */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  // Text crosses as JSON: a raw string would end at its first NUL and lose lone surrogates.
  return new Uint8Array(askNow('text.encode', stringify(text)) as ArrayBuffer);
}

/** Text of bytes, or undefined when `fatal` and they are not valid. */
export function decodeBytes(bytes: Uint8Array, label = 'utf-8', fatal = false, ignoreBOM = false): string | undefined {
  const answer = askNow('text.decode', stringify({ label, fatal, ignoreBOM }), toBytes(bytes)?.buffer);
  return answer === undefined ? undefined : parse(answer as string);
}

/** Text of UTF-8 bytes, invalid parts replaced, without a byte order mark. */
export function decodeText(bytes: Uint8Array): string {
  return bytes.length === 0 ? '' : (decodeBytes(bytes) ?? '');
}

/** Runs a text operation whose request and answer are both JSON text. */
export function askText(op: string, request: unknown): string | undefined {
  const answer = askNow(op, stringify(request));
  return answer === undefined ? undefined : parse(answer as string);
}

/** A text whose characters are these bytes. */
export function toBinary(bytes: Uint8Array): string {
  const charactersAtOnce = 0x2000;
  let text = '';
  for (let at = 0; at < bytes.length; at += charactersAtOnce)
    text += String.fromCharCode(...bytes.subarray(at, at + charactersAtOnce));
  return text;
}

/** Base64 of a text whose characters are bytes. */
export function btoa(data: unknown): string {
  return need(askText('base64.write', String(data)), 'btoa expects characters up to U+00FF');
}

/** The bytes of base64 as a text of characters up to U+00FF. */
export function atob(data: unknown): string {
  return need(askText('base64.read', String(data)), 'atob expects valid base64');
}

function need(text: string | undefined, complaint: string): string {
  if (text === undefined) throw new DOMException(complaint, 'InvalidCharacterError');
  return text;
}
