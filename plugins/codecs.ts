interface CodecArguments {
  /** The text to encode or decode */
  text: string;
  /** encode or decode */
  direction: 'encode' | 'decode';
}

interface HashArguments {
  /** The text to hash, as UTF-8 */
  text: string;
  /** Hash function; default SHA-256 */
  algorithm?: 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** One plugin, several tools: each key of `tools` is a tool of its own. */
export default {
  name: 'codecs',
  version: '1.0.0',
  description: 'Encodings and hashes of text.',
  tags: ['text', 'development'],
  tools: {
    base64: {
      description: 'Encodes UTF-8 text as Base64 or decodes it; decoding also takes the URL-safe alphabet. Use for any Base64.',
      isParallelSafe: true,
      examples: [
        { args: { text: 'héllo', direction: 'encode' }, expect: 'aMOpbGxv' },
        { args: { text: 'aMOpbGxv', direction: 'decode' }, expect: 'héllo' },
      ],
      handler: ({ text, direction }: CodecArguments) =>
        direction === 'encode' ? btoa(toBinary(encodeUtf8(text))) : decodeUtf8(fromBinary(decodeBase64(text))),
    },
    hex: {
      description: 'Encodes UTF-8 text as hexadecimal bytes or decodes them; spaces and colons between bytes are skipped.',
      isParallelSafe: true,
      examples: [
        { args: { text: 'Hi!', direction: 'encode' }, expect: '486921' },
        { args: { text: '48:69:21', direction: 'decode' }, expect: 'Hi!' },
      ],
      handler: ({ text, direction }: CodecArguments) =>
        direction === 'encode' ? toHex(encodeUtf8(text)) : decodeUtf8(fromHex(text)),
    },
    url_encoding: {
      description:
        'Percent-encodes text for one part of a URL (a query value, a path segment) or decodes it. "+" decodes to a space.',
      isParallelSafe: true,
      examples: [
        { args: { text: 'a b&c=d/é', direction: 'encode' }, expect: 'a%20b%26c%3Dd%2F%C3%A9' },
        { args: { text: 'a+b%26c', direction: 'decode' }, expect: 'a b&c' },
      ],
      handler: ({ text, direction }: CodecArguments) =>
        direction === 'encode' ? encodeURIComponent(text) : decodeURIComponent(text.replaceAll('+', ' ')),
    },
    html_entities: {
      description: 'Escapes text for HTML or turns HTML entities (named basics, decimal, hexadecimal) back into characters.',
      isParallelSafe: true,
      examples: [
        { args: { text: '<a href="x">&</a>', direction: 'encode' }, expect: '&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;' },
        { args: { text: '&lt;&#233;&#xe9;&unknown;', direction: 'decode' }, expect: '<éé&unknown;' },
      ],
      handler: ({ text, direction }: CodecArguments) =>
        direction === 'encode' ? text.replace(/[&<>"']/g, (character) => entities[character] ?? character) : decodeEntities(text),
    },
    hash: {
      description: 'Cryptographic hash of a text (UTF-8) in hexadecimal. Use for checksums; not for storing passwords.',
      isParallelSafe: true,
      examples: [
        { args: { text: 'abc' }, expect: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
        { args: { text: 'abc', algorithm: 'SHA-1' }, expect: 'a9993e364706816aba3e25717850c26c9cd0d89d' },
      ],
      handler: async ({ text, algorithm = 'SHA-256' }: HashArguments) =>
        toHex(new Uint8Array(await crypto.subtle.digest(algorithm, encodeUtf8(text)))),
    },
  },
};

function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new TypeError(
      `The ${bytes.length} decoded bytes are not UTF-8 text; as hexadecimal they begin with ${toHex(bytes.subarray(0, 16))}.`,
    );
  }
}

function decodeBase64(text: string): string {
  const standard = text.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  const bad = /[^A-Za-z0-9+/]/.exec(standard);
  if (bad || standard.length % 4 === 1) {
    throw new TypeError(bad ? `"${bad[0]}" is no Base64 character.` : 'The Base64 text is cut off: its length does not fit.');
  }
  return atob(standard.padEnd(Math.ceil(standard.length / 4) * 4, '='));
}

function toBinary(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function fromBinary(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function fromHex(text: string): Uint8Array {
  const digits = text.replace(/[\s:]|0x/gi, '');
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) throw new TypeError('Expected pairs of hexadecimal digits, such as 48 69.');
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,10}));/gi, (entity, decimal, hexadecimal, name) => {
    if (name !== undefined) return Object.hasOwn(characters, name) ? (characters[name] ?? entity) : entity;
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}
