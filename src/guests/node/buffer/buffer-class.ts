import { nodeError, wrongType } from '../node-error.ts';
import { defineNumberMethods } from './buffer-numbers.ts';
import { type ByteEncoding, decodeBytes, encodeBytes, findEncoding } from './byte-encodings.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Buffer: a Uint8Array with Node's methods. */
export class Buffer extends Uint8Array<ArrayBuffer> {
  static poolSize = 8192;

  static {
    defineNumberMethods(Buffer.prototype);
  }

  /** Also the deprecated `new Buffer(text)`; everything else is what Uint8Array takes. */
  constructor(source: ArrayBuffer | number | string, second?: unknown, length?: number) {
    if (typeof source === 'string') super(encodeBytes(source, second).buffer);
    else super(source as ArrayBuffer, second as number | undefined, length);
  }

  static override from(source: unknown, second?: unknown, third?: unknown): Buffer {
    if (typeof source === 'string') return adopt(encodeBytes(source, second));
    if (source instanceof ArrayBuffer) return new Buffer(source, second as number | undefined, third as number | undefined);
    if (ArrayBuffer.isView(source) || Array.isArray(source)) return adopt(Uint8Array.from(source as ArrayLike<number>));
    if (typeof source !== 'object' || source === null)
      throw wrongType('first', 'of type string, Buffer, ArrayBuffer, or Array', source);
    const value: unknown = source.valueOf();
    if (value !== source && value !== null && value !== undefined) return Buffer.from(value, second, third);
    const { data, length } = source as { data?: unknown; length?: unknown };
    if (Array.isArray(data)) return Buffer.from(data);
    if (typeof length === 'number') return adopt(Uint8Array.from(source as ArrayLike<number>));
    throw wrongType('first', 'of type string, Buffer, ArrayBuffer, or Array', source);
  }
  static override of(...items: number[]): Buffer {
    return Buffer.from(items);
  }
  static alloc(size: number, fill?: unknown, encoding?: string): Buffer {
    if (typeof size !== 'number') throw wrongType('size', 'of type number', size);
    if (!(size >= 0 && size <= 0x7fffffff))
      throw nodeError(RangeError, 'ERR_OUT_OF_RANGE', `The value of "size" is out of range. Received ${size}`);
    const made = new Buffer(size);
    return fill === undefined || fill === 0 ? made : fillBytes(made, fill, 0, size, encoding);
  }
  static allocUnsafe(size: number): Buffer {
    return Buffer.alloc(size);
  }
  static allocUnsafeSlow(size: number): Buffer {
    return Buffer.alloc(size);
  }
  static concat(list: readonly Uint8Array[], length = list.reduce((sum, part) => sum + part.length, 0)): Buffer {
    const whole = Buffer.alloc(length);
    let offset = 0;
    for (const part of list) {
      const room = part.subarray(0, length - offset);
      whole.set(room, offset);
      offset += room.length;
    }
    return whole;
  }
  static byteLength(value: string | ArrayBuffer | ArrayBufferView, encoding?: string): number {
    return typeof value === 'string' ? countBytes(value, findEncoding(encoding) ?? 'utf8') : value.byteLength;
  }
  static compare(left: Uint8Array, right: Uint8Array): number {
    const shared = Math.min(left.length, right.length);
    for (let index = 0; index < shared; index++) {
      const difference = (left[index] ?? 0) - (right[index] ?? 0);
      if (difference !== 0) return Math.sign(difference);
    }
    return Math.sign(left.length - right.length);
  }
  static copyBytesFrom(view: Uint8Array, start?: number, end?: number): Buffer {
    const { buffer, byteOffset, byteLength } = view.slice(start, end);
    return adopt(new Uint8Array(buffer, byteOffset, byteLength));
  }
  static isBuffer(value: unknown): value is Buffer {
    return value instanceof Buffer;
  }
  static isEncoding(name: unknown): boolean {
    return typeof name === 'string' && findEncoding(name) !== undefined;
  }

  get parent(): ArrayBuffer {
    return this.buffer;
  }
  get offset(): number {
    return this.byteOffset;
  }
  override toString(encoding?: string, start = 0, end = this.length): string {
    return decodeBytes(this.subarray(Math.max(start, 0), Math.max(end, 0)), encoding);
  }
  toJSON(): { type: 'Buffer'; data: number[] } {
    return { type: 'Buffer', data: Array.from(this) };
  }
  equals(other: Uint8Array): boolean {
    return Buffer.compare(this, other) === 0;
  }
  compare(other: Uint8Array, start = 0, end = other.length, ownStart = 0, ownEnd = this.length): number {
    return Buffer.compare(this.subarray(ownStart, ownEnd), other.subarray(start, end));
  }
  /** A view of the same memory, unlike Uint8Array's slice. */
  override slice(start?: number, end?: number): Buffer {
    return this.subarray(start, end);
  }
  override subarray(start?: number, end?: number): Buffer {
    return adopt(super.subarray(start, end));
  }
  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    const part = this.subarray(start, Math.min(end, start + Math.max(0, target.length - targetStart)));
    target.set(part, targetStart);
    return part.length;
  }
  write(text: string, ...rest: (number | string | undefined)[]): number {
    const encoding = rest.find((value) => typeof value === 'string') ?? 'utf8';
    const [offset = 0, length = this.length - offset] = rest.filter((value) => typeof value === 'number');
    const bytes = encodeBytes(text, encoding);
    let size = Math.min(bytes.length, length, this.length - offset);
    // A character that does not fit whole is left out.
    if (findEncoding(encoding) === 'utf8') while (size > 0 && size < bytes.length && ((bytes[size] ?? 0) & 0xc0) === 0x80) size--;
    this.set(bytes.subarray(0, size), offset);
    return size;
  }
  override fill(value: unknown, ...rest: unknown[]): this {
    const encoding = rest.find((item) => typeof item === 'string');
    const [start = 0, end = this.length] = rest.filter((item) => typeof item === 'number');
    return fillBytes(this, value, start, end, encoding);
  }
  override indexOf(value: unknown, from: unknown = 0, encoding?: string): number {
    return findBytes(this, value, from, encoding, 1);
  }
  override lastIndexOf(value: unknown, from: unknown = this.length, encoding?: string): number {
    return findBytes(this, value, from, encoding, -1);
  }
  override includes(value: unknown, from?: unknown, encoding?: string): boolean {
    return this.indexOf(value, from, encoding) >= 0;
  }
  swap16(): this {
    return swap(this, 2);
  }
  swap32(): this {
    return swap(this, 4);
  }
  swap64(): this {
    return swap(this, 8);
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const shown = decodeBytes(this.subarray(0, 50), 'hex').replace(/(..)(?=.)/g, '$1 ');
    return `<Buffer ${shown}${this.length > 50 ? ` ... ${this.length - 50} more bytes` : ''}>`;
  }
}

/** Hex and base64 are counted by their length, as Node does; the others are encoded. */
function countBytes(text: string, encoding: ByteEncoding): number {
  if (encoding === 'hex') return text.length >>> 1;
  if (!encoding.startsWith('base64')) return encodeBytes(text, encoding).length;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return ((text.length - padding) * 3) >>> 2;
}

function adopt(bytes: Bytes): Buffer {
  return bytes instanceof Buffer ? bytes : new Buffer(bytes.buffer, bytes.byteOffset, bytes.length);
}

function fillBytes<Target extends Buffer>(target: Target, value: unknown, start: number, end: number, encoding?: string): Target {
  const pattern = value === '' ? Uint8Array.of(0) : toPattern(value, encoding);
  if (pattern.length === 0) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', 'The value to fill with has no bytes');
  for (let index = start; index < end && index < target.length; index++)
    target[index] = pattern[(index - start) % pattern.length] ?? 0;
  return target;
}

function findBytes(bytes: Buffer, value: unknown, from: unknown, encoding: string | undefined, step: 1 | -1): number {
  const [offset, name] = typeof from === 'string' ? [step > 0 ? 0 : bytes.length, from] : [Number(from) || 0, encoding];
  const wanted = toPattern(value, name);
  const last = bytes.length - wanted.length;
  const start = offset < 0 ? bytes.length + offset : offset;
  if (wanted.length === 0) return Math.min(Math.max(start, 0), bytes.length);
  for (let at = step > 0 ? Math.max(start, 0) : Math.min(start, last); at >= 0 && at <= last; at += step) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
}

function toPattern(value: unknown, encoding: string | undefined): Uint8Array {
  if (typeof value === 'string') return encodeBytes(value, encoding);
  if (value instanceof Uint8Array) return value;
  return Uint8Array.of(Number(value));
}

function swap<Target extends Buffer>(bytes: Target, size: number): Target {
  if (bytes.length % size !== 0) {
    throw nodeError(RangeError, 'ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${size * 8}-bits`);
  }
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
  return bytes;
}
