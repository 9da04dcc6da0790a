/** Text encodings of Buffer: names are many, kinds are few, and the host does the work. */
import { askBytes, askText } from '../ask-host.ts';
import { nodeError } from '../node-error.ts';

/** The encodings that the host knows. */
export type ByteEncoding = 'utf8' | 'utf16le' | 'latin1' | 'base64' | 'base64url' | 'hex';

const names: Readonly<Record<string, ByteEncoding>> = {
  utf8: 'utf8',
  'utf-8': 'utf8',
  utf16le: 'utf16le',
  'utf-16le': 'utf16le',
  ucs2: 'utf16le',
  'ucs-2': 'utf16le',
  latin1: 'latin1',
  binary: 'latin1',
  ascii: 'latin1',
  base64: 'base64',
  base64url: 'base64url',
  hex: 'hex',
};

/** The kind of an encoding's name, or undefined when it is not known. */
export function findEncoding(name: unknown): ByteEncoding | undefined {
  const key = String(name).toLowerCase();
  return Object.hasOwn(names, key) ? names[key] : undefined;
}

/** The bytes of a text. */
export function encodeBytes(text: string, encoding: unknown = 'utf8'): Uint8Array<ArrayBuffer> {
  return askBytes('bytes.from', JSON.stringify({ text, encoding: needEncoding(encoding) }));
}

/** The text of bytes. */
export function decodeBytes(bytes: Uint8Array, encoding: unknown = 'utf8'): string {
  if (bytes.length === 0) return '';
  // ASCII is read without its highest bit.
  const source = String(encoding).toLowerCase() === 'ascii' ? Uint8Array.from(bytes, (byte) => byte & 0x7f) : bytes;
  return askText('bytes.text', JSON.stringify(needEncoding(encoding)), source);
}

function needEncoding(name: unknown): ByteEncoding {
  const found = findEncoding(name ?? 'utf8');
  if (!found) throw nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${String(name)}`);
  return found;
}
