/** Text and bytes without a host's own coders: what guests/cell/web asks for by `text.*`, `base64.*` and `bytes.*`. */
import { readBase64, writeBase64 } from './base64.ts';
import { extism } from './host-calls.ts';
import { makeRefusal } from './refusal.ts';
import { decodeUtf8, isUtf8 } from './utf8.ts';

type Answer = string | ArrayBuffer | undefined;

const { parse, stringify } = JSON;
const labels: Readonly<Record<string, string>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'unicode-1-1-utf-8': 'utf-8',
  'utf-16': 'utf-16le',
  'utf-16le': 'utf-16le',
  'utf-16be': 'utf-16be',
};

/** The answers by operation; what is asked and answered is as in the daemon. */
export const moduleTextAnswers: Readonly<Record<string, (payload: string, body: Uint8Array) => Answer>> = {
  'text.encode': (payload) => extism.encode(parse(payload)),
  'text.decode': (payload, body) => {
    const { label, fatal, ignoreBOM } = parse(payload);
    const text = decodeAs(label, body, fatal);
    if (text === undefined) return undefined;
    return stringify(!ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text);
  },
  'text.label': (payload) => labels[payload.trim().toLowerCase()],
  'base64.write': (payload) => {
    const binary: string = parse(payload);
    return /^[\0-\xff]*$/.test(binary) ? stringify(writeBase64(fromLatin1(binary))) : undefined;
  },
  'base64.read': (payload) => {
    const compact = String(parse(payload)).replace(/[\t\n\f\r ]/g, '');
    const bare = compact.length % 4 === 0 ? compact.replace(/={1,2}$/, '') : compact;
    return bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare) ? undefined : stringify(toLatin1(readBase64(bare)));
  },
  'bytes.from': (payload) => {
    const { text, encoding } = parse(payload);
    return bytesFrom(text, encoding);
  },
  'bytes.text': (payload, body) => stringify(textOf(body, parse(payload))),
};

function decodeAs(label: string, bytes: Uint8Array, fatal: boolean): string | undefined {
  const encoding = labels[label.trim().toLowerCase()];
  if (encoding === undefined) throw makeRefusal('not-supported', `A built module decodes UTF-8 and UTF-16, not ${label}.`);
  if (encoding !== 'utf-8') return decodeUtf16(bytes, encoding === 'utf-16be', fatal);
  if (isUtf8(bytes)) return extism.decode(exact(bytes));
  return fatal ? undefined : decodeUtf8(bytes);
}

function decodeUtf16(bytes: Uint8Array, isBigEndian: boolean, fatal: boolean): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode(view.getUint16(at, !isBigEndian));
  if (bytes.length % 2 === 1) text += '\ufffd';
  return fatal && (bytes.length % 2 === 1 || !text.isWellFormed()) ? undefined : text.toWellFormed();
}

function bytesFrom(text: string, encoding: string): ArrayBuffer {
  switch (encoding) {
    case 'latin1':
      return exact(fromLatin1(text));
    case 'utf16le':
      return exact(Uint8Array.from(unitsOf(text)));
    case 'hex':
      return exact(Uint8Array.from(/^(?:[0-9a-f]{2})*/i.exec(text)?.[0].match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
    case 'base64':
    case 'base64url':
      return exact(
        readBase64(
          text
            .replace(/=.*$/s, '')
            .replace(/-/g, '+')
            .replace(/_/g, '/')
            .replace(/[^A-Za-z0-9+/]/g, ''),
        ),
      );
    default:
      return extism.encode(text);
  }
}

function textOf(bytes: Uint8Array, encoding: string): string {
  switch (encoding) {
    case 'latin1':
      return toLatin1(bytes);
    case 'utf16le':
      return decodeUtf16Loosely(bytes);
    case 'hex':
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    case 'base64':
      return writeBase64(bytes);
    case 'base64url':
      return writeBase64(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
    default:
      return isUtf8(bytes) ? extism.decode(exact(bytes)) : decodeUtf8(bytes);
  }
}

/** Node keeps lone surrogates here and drops a last odd byte. */
function decodeUtf16Loosely(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8));
  return text;
}

function unitsOf(text: string): number[] {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) bytes.push(text.charCodeAt(at) & 255, text.charCodeAt(at) >> 8);
  return bytes;
}

function fromLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function toLatin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}

function exact(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
