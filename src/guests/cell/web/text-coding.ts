import { askNow } from '../border.ts';
import { decodeBytes, encodeText, joinBytes, toBytes } from './bytes.ts';

export class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }
  encode(text: unknown = ''): Uint8Array {
    return encodeText(String(text));
  }
  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    let read = 0;
    let written = 0;
    for (const character of text) {
      const code = character.codePointAt(0) ?? 0;
      const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      if (written + size > target.length) break;
      written += size;
      read += character.length;
    }
    target.set(encodeText(text.slice(0, read)));
    return { read, written };
  }
}

export class TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  #held = new Uint8Array(0);
  #started = false;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const encoding = askNow('text.label', String(label));
    if (encoding === undefined) throw new RangeError(`The encoding "${String(label)}" is not known`);
    this.encoding = String(encoding);
    this.fatal = Boolean(options.fatal);
    this.ignoreBOM = Boolean(options.ignoreBOM);
  }

  decode(input?: unknown, options: { stream?: boolean } = {}): string {
    const fresh = input === undefined ? new Uint8Array(0) : toBytes(input);
    if (!fresh) throw new TypeError('TextDecoder.decode expects an ArrayBuffer or a view of one');
    const bytes = this.#held.length === 0 ? fresh : joinBytes([this.#held, fresh]);
    const cut = options.stream ? bytes.length - countIncomplete(bytes, this.encoding) : bytes.length;
    this.#held = bytes.slice(cut);
    // The byte order mark counts only at the very start of a stream.
    const text = cut === 0 ? '' : decodeBytes(bytes.subarray(0, cut), this.encoding, this.fatal, this.ignoreBOM || this.#started);
    this.#started = options.stream === true && (this.#started || cut > 0);
    if (text === undefined) throw new TypeError(`The data is not valid ${this.encoding}`);
    return text;
  }
}

/** How many bytes at the end may be the beginning of a character whose rest is still to come. */
function countIncomplete(bytes: Uint8Array, encoding: string): number {
  const length = bytes.length;
  if (encoding.startsWith('utf-16')) {
    const odd = length % 2;
    const high = bytes[length - odd - (encoding === 'utf-16le' ? 1 : 2)] ?? 0;
    return (high & 0xfc) === 0xd8 ? odd + 2 : odd;
  }
  if (encoding !== 'utf-8') {
    if (/^(big5|euc|gb|shift|iso-2022)/.test(encoding)) throw new TypeError(`TextDecoder cannot decode ${encoding} as a stream`);
    return 0;
  }
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
