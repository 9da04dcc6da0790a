/** node:crypto: random values, hashes and HMAC by the host; keys and what is done with them stand beside. */

import { askBytes } from '../ask-host.ts';
import { Buffer } from '../buffer/buffer.ts';
import type { Buffer as BufferClass } from '../buffer/buffer-class.ts';
import { nodeError, wrongType } from '../node-error.ts';
import * as keys from './crypto-keys.ts';
import { type Callback, type Data, give, later, toBytes } from './data.ts';

declare const crypto: { readonly subtle: unknown; getRandomValues(view: unknown): unknown; randomUUID(): string };

const MAX_RANDOM_BYTES = 65_536;
const hashNames = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'];

/** Collects data and hashes it at the end. */
class Digest {
  #chunks: Uint8Array[];
  #finished = false;
  readonly #finish: (data: Uint8Array) => Uint8Array;

  constructor(finish: (data: Uint8Array) => Uint8Array, chunks: readonly Uint8Array[] = []) {
    this.#finish = finish;
    this.#chunks = [...chunks];
  }
  update(data: Data, encoding?: string): this {
    this.#check();
    this.#chunks.push(toBytes(data, encoding));
    return this;
  }
  digest(encoding?: string): BufferClass | string {
    this.#check();
    this.#finished = true;
    return give(Buffer.from(this.#finish(Buffer.concat(this.#chunks))), encoding);
  }
  copy(): Digest {
    this.#check();
    return new Digest(this.#finish, this.#chunks);
  }
  #check(): void {
    if (this.#finished) throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
  }
}

export function createHash(algorithm: string): Digest {
  const name = hashName(algorithm);
  return new Digest((data) => askBytes('crypto.digest', name, data));
}

export function createHmac(algorithm: string, key: Data): Digest {
  const name = hashName(algorithm);
  const keyBytes = keys.secretBytes(key);
  const request = JSON.stringify({ algorithm: name, keyBytes: keyBytes.length });
  return new Digest((data) => askBytes('crypto.hmac', request, Buffer.concat([keyBytes, data])));
}

export function hash(algorithm: string, data: Data, encoding = 'hex'): BufferClass | string {
  return createHash(algorithm).update(data).digest(encoding);
}

export function getHashes(): string[] {
  return [...hashNames];
}

export function randomBytes(size: number, callback?: Callback<BufferClass>): BufferClass | undefined {
  const bytes = randomFillSync(Buffer.alloc(size));
  return callback ? later(() => bytes, callback) : bytes;
}

export function randomFillSync<View extends ArrayBufferView>(view: View, offset = 0, size = view.byteLength - offset): View {
  const target = new Uint8Array(view.buffer, view.byteOffset + offset, size);
  for (let at = 0; at < target.length; at += MAX_RANDOM_BYTES) {
    target.set(askBytes('crypto.random', String(Math.min(MAX_RANDOM_BYTES, target.length - at))), at);
  }
  return view;
}

export function randomUUID(): string {
  return crypto.randomUUID();
}

export function randomInt(low: number, high?: number | Callback<number>, callback?: Callback<number>): number | undefined {
  const [from, to] = typeof high === 'number' ? [low, high] : [0, low];
  const done = typeof high === 'function' ? high : callback;
  const range = to - from;
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && range > 0 && range < 2 ** 48)) {
    throw nodeError(
      RangeError,
      'ERR_OUT_OF_RANGE',
      `The value of "max" is out of range. It must be greater than min (${from}) by less than 2^48. Received ${to}`,
    );
  }
  // Values above the last whole multiple are drawn again, so that all are equally likely.
  const limit = 2 ** 48 - (2 ** 48 % range);
  let drawn = limit;
  while (drawn >= limit) drawn = askBytes('crypto.random', '6').reduce((sum, byte) => sum * 256 + byte, 0);
  const value = from + (drawn % range);
  return done ? later(() => value, done) : value;
}

export function timingSafeEqual(left: ArrayBufferView, right: ArrayBufferView): boolean {
  const [first, second] = [toBytes(left, undefined, 'buf1'), toBytes(right, undefined, 'buf2')];
  if (first.length !== second.length) {
    throw nodeError(RangeError, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length');
  }
  let difference = 0;
  for (let index = 0; index < first.length; index++) difference |= (first[index] ?? 0) ^ (second[index] ?? 0);
  return difference === 0;
}

export function getRandomValues(view: unknown): unknown {
  return crypto.getRandomValues(view);
}

export const webcrypto = crypto;
/** Made when it is first used: most of those who import this module hash. */
export const subtle: object = new Proxy({}, { get: (_target, name) => Reflect.get(Object(crypto.subtle), name) });

function hashName(algorithm: unknown): string {
  if (typeof algorithm !== 'string') throw wrongType('algorithm', 'of type string', algorithm);
  const name = algorithm.toLowerCase().replace(/^(rsa-)?sha-?/, 'sha');
  if (!hashNames.includes(name))
    throw nodeError(
      Error,
      'ERR_OSSL_EVP_UNSUPPORTED',
      `Digest method not supported: ${algorithm}; there are ${hashNames.join(', ')}`,
    );
  return name;
}

export * from './crypto-keys.ts';
