/** The read and write methods of Buffer, made from a table over DataView. */
import { nodeError } from '../node-error.ts';

type Value = number | bigint;
type Reader = (this: Uint8Array, offset?: number) => Value;
type Writer = (this: Uint8Array, value: Value, offset?: number) => number;

/** Node's name, DataView's name, bytes, lowest and highest value of integers. */
const kinds: readonly (readonly [string, string, number, Value?, Value?])[] = [
  ['UInt8', 'Uint8', 1, 0, 0xff],
  ['Int8', 'Int8', 1, -0x80, 0x7f],
  ['UInt16', 'Uint16', 2, 0, 0xffff],
  ['Int16', 'Int16', 2, -0x8000, 0x7fff],
  ['UInt32', 'Uint32', 4, 0, 0xffffffff],
  ['Int32', 'Int32', 4, -0x80000000, 0x7fffffff],
  ['BigUInt64', 'BigUint64', 8, 0n, 0xffffffffffffffffn],
  ['BigInt64', 'BigInt64', 8, -0x8000000000000000n, 0x7fffffffffffffffn],
  ['Float', 'Float32', 4],
  ['Double', 'Float64', 8],
];

/** Puts `readUInt8`, `writeInt32LE`, `readDoubleBE`, `readUIntBE` and so on on a prototype. */
export function defineNumberMethods(prototype: object): void {
  for (const [name, viewName, size, low, high] of kinds) {
    for (const order of size === 1 ? [''] : ['LE', 'BE']) {
      const little = order === 'LE';
      const read: Reader = function (offset = 0) {
        return callView(this, `get${viewName}`, checkOffset(this, offset, size), little);
      };
      const write: Writer = function (value, offset = 0) {
        checkRange(value, low, high);
        callView(this, `set${viewName}`, checkOffset(this, offset, size), value, little);
        return offset + size;
      };
      define(prototype, `read${name}${order}`, read);
      define(prototype, `write${name}${order}`, write);
    }
  }
  for (const order of ['LE', 'BE']) {
    for (const signed of [false, true]) defineSized(prototype, order === 'LE', signed);
  }
}

/** Integers of 1 to 6 bytes. */
function defineSized(prototype: object, little: boolean, signed: boolean): void {
  const name = `${signed ? 'Int' : 'UInt'}${little ? 'LE' : 'BE'}`;
  define(prototype, `read${name}`, function (this: Uint8Array, offset: number, size: number) {
    checkSize(size);
    checkOffset(this, offset, size);
    let value = 0;
    for (let index = 0; index < size; index++)
      value = value * 256 + (this[little ? offset + size - 1 - index : offset + index] ?? 0);
    return signed && value >= 2 ** (8 * size - 1) ? value - 2 ** (8 * size) : value;
  });
  define(prototype, `write${name}`, function (this: Uint8Array, value: number, offset: number, size: number) {
    checkSize(size);
    checkOffset(this, offset, size);
    const range = 2 ** (8 * size);
    checkRange(value, signed ? -range / 2 : 0, (signed ? range / 2 : range) - 1);
    let rest = value < 0 ? value + range : value;
    for (let index = 0; index < size; index++) {
      this[little ? offset + index : offset + size - 1 - index] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return offset + size;
  });
}

function define(prototype: object, name: string, value: unknown): void {
  const descriptor = { value, writable: true, configurable: true };
  Object.defineProperty(prototype, name, descriptor);
  // Node has both spellings: readUInt8 and readUint8.
  if (name.includes('UInt')) Object.defineProperty(prototype, name.replace('UInt', 'Uint'), descriptor);
}

function callView(bytes: Uint8Array, method: string, ...args: unknown[]): Value {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Reflect.apply(Reflect.get(view, method), view, args);
}

function checkOffset(bytes: Uint8Array, offset: unknown, size: number): number {
  if (typeof offset !== 'number')
    throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "offset" argument must be of type number');
  if (Number.isInteger(offset) && offset >= 0 && offset + size <= bytes.length) return offset;
  throw outOfRange('offset', `>= 0 and <= ${bytes.length - size}`, offset);
}

function checkSize(size: number): void {
  if (!(Number.isInteger(size) && size >= 1 && size <= 6)) throw outOfRange('byteLength', '>= 1 and <= 6', size);
}

function checkRange(value: Value, low: Value | undefined, high: Value | undefined): void {
  if (low === undefined || high === undefined || (value >= low && value <= high) || Number.isNaN(value)) return;
  throw outOfRange('value', `>= ${low} and <= ${high}`, value);
}

function outOfRange(name: string, expected: string, value: unknown): RangeError {
  return nodeError(
    RangeError,
    'ERR_OUT_OF_RANGE',
    `The value of "${name}" is out of range. It must be ${expected}. Received ${String(value)}`,
  );
}
