/** node:string_decoder: text from chunks that may cut a character in two. */

import { Buffer } from './buffer/buffer.ts';
import { encodeBytes, findEncoding } from './buffer/byte-encodings.ts';
import { nodeError } from './node-error.ts';

export class StringDecoder {
  readonly encoding: string;
  #held = Buffer.alloc(0);

  constructor(encoding: string = 'utf8') {
    const found = findEncoding(encoding);
    if (!found) throw nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
    this.encoding = found;
  }

  write(chunk: Uint8Array | string): string {
    const fresh = typeof chunk === 'string' ? encodeBytes(chunk) : chunk;
    const bytes = Buffer.concat([this.#held, fresh]);
    const cut = bytes.length - countHeld(bytes, this.encoding);
    this.#held = Buffer.from(bytes.subarray(cut));
    return bytes.toString(this.encoding, 0, cut);
  }
  end(chunk?: Uint8Array | string): string {
    const text = chunk === undefined ? '' : this.write(chunk);
    const rest = this.#held.toString(this.encoding);
    this.#held = Buffer.alloc(0);
    return text + rest;
  }
}

/** Bytes at the end that belong to a character, or to a group of base64, whose rest is still to come. */
function countHeld(bytes: Uint8Array, encoding: string): number {
  const { length } = bytes;
  if (encoding.startsWith('base64')) return length % 3;
  if (encoding === 'utf16le') {
    const odd = length % 2;
    return ((bytes[length - odd - 1] ?? 0) & 0xfc) === 0xd8 ? odd + 2 : odd;
  }
  if (encoding !== 'utf8') return 0;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
