/** The keys, signatures, ciphers and derived keys of node:crypto: every operation is the host's own, over keys that cross as bytes. */

import { askBytes, askText } from '../ask-host.ts';
import { Buffer } from '../buffer/buffer.ts';
import type { Buffer as BufferClass } from '../buffer/buffer-class.ts';
import { nodeError, wrongType } from '../node-error.ts';
import { base64, type Callback, type Data, give, later, toBytes } from './data.ts';

type Options = Readonly<Record<string, unknown>>;

interface PairFacts {
  readonly key: string;
  readonly isPrivate: boolean;
  readonly kind: string;
  readonly details: Options;
}

export const constants = {
  RSA_PKCS1_PADDING: 1,
  RSA_NO_PADDING: 3,
  RSA_PKCS1_OAEP_PADDING: 4,
  RSA_PKCS1_PSS_PADDING: 6,
  RSA_PSS_SALTLEN_DIGEST: -1,
  RSA_PSS_SALTLEN_AUTO: -2,
  RSA_PSS_SALTLEN_MAX_SIGN: -2,
};

/** A key. */
export class KeyObject {
  readonly type: 'secret' | 'private' | 'public';
  readonly asymmetricKeyType: string | undefined;
  readonly asymmetricKeyDetails: Options | undefined;
  readonly #secret: Uint8Array | undefined;
  readonly #pair: PairFacts | undefined;

  constructor(content: Uint8Array | PairFacts) {
    const isSecret = content instanceof Uint8Array;
    this.type = isSecret ? 'secret' : content.isPrivate ? 'private' : 'public';
    this.#secret = isSecret ? content.slice() : undefined;
    this.#pair = isSecret ? undefined : content;
    this.asymmetricKeyType = this.#pair?.kind;
    const { publicExponent, ...details } = this.#pair?.details ?? {};
    this.asymmetricKeyDetails =
      this.#pair && (publicExponent === undefined ? details : { ...details, publicExponent: BigInt(Number(publicExponent)) });
  }
  get symmetricKeySize(): number | undefined {
    return this.#secret?.length;
  }
  export({ format, type, ...others }: Options = {}): unknown {
    if (others.cipher !== undefined)
      throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'Keys are not exported with a passphrase here');
    if (!this.#pair) {
      const bytes = Buffer.from(this.#secret ?? []);
      return format === 'jwk' ? { kty: 'oct', k: bytes.toString('base64url') } : bytes;
    }
    const { key, isPrivate } = this.#pair;
    const written: unknown = askText(
      'key.write',
      JSON.stringify({ key, isPrivate, format, type: type ?? (isPrivate ? 'pkcs8' : 'spki') }),
    );
    return format === 'der' ? Buffer.from(written, 'base64') : written;
  }
  equals(other: KeyObject): boolean {
    const content = (key: KeyObject) => key.#pair?.key ?? JSON.stringify([...(key.#secret ?? [])]);
    return this.type === other.type && content(this) === content(other);
  }
  get [Symbol.toStringTag](): string {
    return 'KeyObject';
  }
  /** The key as the host takes it. */
  static partsOf(key: KeyObject): { readonly secret?: Uint8Array | undefined; readonly pair?: PairFacts | undefined } {
    return { secret: key.#secret, pair: key.#pair };
  }
}

export function createSecretKey(key: Data, encoding?: string): KeyObject {
  return new KeyObject(toBytes(key, encoding));
}

export function createPrivateKey(key: unknown): KeyObject {
  return readPair(key, true);
}

export function createPublicKey(key: unknown): KeyObject {
  return readPair(key, false);
}

/** A key in any of the forms that Node takes: an object, PEM, DER or JWK. */
function readPair(key: unknown, isPrivate: boolean): KeyObject {
  if (key instanceof KeyObject) {
    if (key.type === 'secret' || (isPrivate && key.type !== 'private'))
      throw wrongType('key', `a ${isPrivate ? 'private' : 'public'} key`, key);
    if (isPrivate || key.type === 'public') return key;
    return readPair(key.export({ format: 'pem', type: 'pkcs8' }), false);
  }
  const isBare = typeof key === 'string' || ArrayBuffer.isView(key) || key instanceof ArrayBuffer;
  const given: Options = isBare ? { key } : Object(key);
  if (given.key instanceof KeyObject) return readPair(given.key, isPrivate);
  const format = given.format ?? 'pem';
  const { passphrase, type } = given;
  const text =
    format === 'jwk'
      ? JSON.stringify(given.key)
      : format === 'der'
        ? Buffer.from(given.key).toString('base64')
        : textOf(given.key);
  const asked = passphrase === undefined ? {} : { passphrase: String(passphrase) };
  try {
    const facts: unknown = askText(
      'key.read',
      JSON.stringify({ text, format, isPrivate, ...(format === 'der' ? { type } : {}), ...asked }),
    );
    return new KeyObject(Object(facts));
  } catch (error) {
    throw nodeError(Error, 'ERR_OSSL_UNSUPPORTED', error instanceof Error ? error.message : String(error));
  }
}

/** A secret key as bytes. */
export function secretBytes(key: unknown, encoding?: string): Uint8Array {
  return key instanceof KeyObject ? (KeyObject.partsOf(key).secret ?? new Uint8Array()) : toBytes(key, encoding);
}

export function generateKeyPairSync(kind: string, options: Options = {}): { publicKey: unknown; privateKey: unknown } {
  const { modulusLength, namedCurve, publicKeyEncoding, privateKeyEncoding } = options;
  const made: unknown = askText('key.generate', JSON.stringify({ kind, modulusLength, namedCurve }));
  const [own, other] = Array.isArray(made) ? made.map((facts: PairFacts) => new KeyObject(facts)) : [];
  const write = (key: KeyObject | undefined, encoding: unknown) => (encoding === undefined ? key : key?.export(Object(encoding)));
  return { publicKey: write(other, publicKeyEncoding), privateKey: write(own, privateKeyEncoding) };
}

export function generateKeyPair(
  kind: string,
  options: Options,
  callback: (error: unknown, publicKey?: unknown, privateKey?: unknown) => void,
): void {
  later(
    () => generateKeyPairSync(kind, options),
    (error, pair) => callback(error, pair?.publicKey, pair?.privateKey),
  );
}

export function sign(
  algorithm: string | null | undefined,
  data: Data,
  key: unknown,
  callback?: Callback<BufferClass>,
): BufferClass | undefined {
  const make = () => Buffer.from(askBytes('key.sign', JSON.stringify(signing(algorithm, key, true)), toBytes(data)));
  return callback ? later(make, callback) : make();
}

export function verify(
  algorithm: string | null | undefined,
  data: Data,
  key: unknown,
  signature: Data,
  callback?: Callback<boolean>,
): boolean | undefined {
  const request = { ...signing(algorithm, key, false), signature: Buffer.from(toBytes(signature)).toString('base64') };
  const make = (): boolean => String(askText('key.verify', JSON.stringify(request), toBytes(data))) === 'true';
  return callback ? later(make, callback) : make();
}

function signing(algorithm: string | null | undefined, key: unknown, isPrivate: boolean): object {
  const { pair } = KeyObject.partsOf(readPair(key, isPrivate));
  const { padding, saltLength, dsaEncoding }: Options =
    typeof key === 'object' && key !== null && !(key instanceof KeyObject) ? Object(key) : {};
  const hash = algorithm === null || algorithm === undefined ? undefined : algorithm.replace(/^rsa-/i, '');
  return { key: pair?.key, isPrivate, hash, padding, saltLength, dsaEncoding };
}

/** What `createSign` and `createVerify` give. */
class Signing {
  readonly #algorithm: string;
  readonly #chunks: Uint8Array[] = [];

  constructor(algorithm: string) {
    this.#algorithm = algorithm;
  }
  update(data: Data, encoding?: string): this {
    this.#chunks.push(toBytes(data, encoding));
    return this;
  }
  write(data: Data): boolean {
    this.update(data);
    return true;
  }
  end(data?: Data): this {
    return data === undefined ? this : this.update(data);
  }
  sign(key: unknown, encoding?: string): BufferClass | string {
    return give(sign(this.#algorithm, Buffer.concat(this.#chunks), key) ?? Buffer.alloc(0), encoding);
  }
  verify(key: unknown, signature: Data, encoding?: string): boolean {
    return verify(this.#algorithm, Buffer.concat(this.#chunks), key, toBytes(signature, encoding)) === true;
  }
}

export const createSign = (algorithm: string): Signing => new Signing(algorithm);
export const createVerify = (algorithm: string): Signing => new Signing(algorithm);

/** Collects what it is given: the host seals or opens it as a whole. */
class Cipher {
  readonly #request: Record<string, unknown>;
  readonly #isSealed: boolean;
  readonly #chunks: Uint8Array[] = [];
  #tag: BufferClass | undefined;

  constructor(name: string, key: unknown, iv: Data | null, isDecrypting: boolean, { authTagLength }: Options = {}) {
    const [bytes, start] = [secretBytes(key), iv === null ? undefined : base64(iv)];
    this.#isSealed = /gcm|ccm|ocb|poly1305/i.test(name);
    this.#request = { name, key: base64(bytes), iv: start, isDecrypting, isPadded: true, tagBytes: authTagLength };
  }
  update(data: Data, from?: string, to?: string): BufferClass | string {
    this.#chunks.push(toBytes(data, from));
    return give(Buffer.alloc(0), to);
  }
  final(to?: string): BufferClass | string {
    const isDecrypting = this.#request.isDecrypting === true;
    const tag = this.#isSealed && isDecrypting ? { tag: this.#tag?.toString('base64') } : {};
    const whole = Buffer.from(askBytes('key.cipher', JSON.stringify({ ...this.#request, ...tag }), Buffer.concat(this.#chunks)));
    const end = this.#isSealed && !isDecrypting ? whole.length - Number(this.#request.tagBytes ?? 16) : whole.length;
    if (end < whole.length) this.#tag = Buffer.from(whole.subarray(end));
    return give(Buffer.from(whole.subarray(0, end)), to);
  }
  setAAD(data: Data): this {
    this.#request.aad = base64(data);
    return this;
  }
  setAuthTag(tag: Data): this {
    this.#tag = Buffer.from(toBytes(tag));
    return this;
  }
  getAuthTag(): BufferClass {
    if (!this.#tag) throw nodeError(Error, 'ERR_CRYPTO_INVALID_STATE', 'The tag is there after final()');
    return this.#tag;
  }
  setAutoPadding(isPadded = true): this {
    this.#request.isPadded = isPadded;
    return this;
  }
}

export const createCipheriv = (name: string, key: unknown, iv: Data | null, options?: Options): Cipher =>
  new Cipher(name, key, iv, false, options);
export const createDecipheriv = (name: string, key: unknown, iv: Data | null, options?: Options): Cipher =>
  new Cipher(name, key, iv, true, options);

export function getCipherInfo(name: string): unknown {
  return askText('key.cipher-info', name) ?? undefined;
}

export function pbkdf2Sync(key: Data, salt: Data, rounds: number, bytes: number, hash: string): BufferClass {
  return derive({ kind: 'pbkdf2', key: base64(key), salt: base64(salt), rounds, bytes, hash });
}

export function pbkdf2(
  key: Data,
  salt: Data,
  rounds: number,
  bytes: number,
  hash: string,
  callback: Callback<BufferClass>,
): void {
  later(() => pbkdf2Sync(key, salt, rounds, bytes, hash), callback);
}

export function scryptSync(key: Data, salt: Data, bytes: number, options: Options = {}): BufferClass {
  const [cost, blockSize, parallelization] = [
    options.cost ?? options.N,
    options.blockSize ?? options.r,
    options.parallelization ?? options.p,
  ];
  return derive({ kind: 'scrypt', key: base64(key), salt: base64(salt), bytes, cost, blockSize, parallelization });
}

export function scrypt(
  key: Data,
  salt: Data,
  bytes: number,
  options: Options | Callback<BufferClass>,
  callback?: Callback<BufferClass>,
): void {
  const done = typeof options === 'function' ? options : callback;
  if (done) later(() => scryptSync(key, salt, bytes, typeof options === 'function' ? {} : options), done);
}

export function hkdfSync(hash: string, key: unknown, salt: Data, info: Data, bytes: number): ArrayBuffer {
  const derived = derive({ kind: 'hkdf', key: base64(secretBytes(key)), salt: base64(salt), info: base64(info), bytes, hash });
  return new Uint8Array(derived).buffer;
}

export function hkdf(hash: string, key: unknown, salt: Data, info: Data, bytes: number, callback: Callback<ArrayBuffer>): void {
  later(() => hkdfSync(hash, key, salt, info, bytes), callback);
}

function derive(request: object): BufferClass {
  return Buffer.from(askBytes('key.derive', JSON.stringify(request)));
}

export function diffieHellman({ privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject }): BufferClass {
  const [own, other] = [KeyObject.partsOf(privateKey).pair, KeyObject.partsOf(publicKey).pair];
  return Buffer.from(askBytes('key.agree', JSON.stringify({ privateKey: own?.key, publicKey: other?.key })));
}

const rsa =
  (work: string, isPrivate: boolean) =>
  (key: unknown, data: Data): BufferClass => {
    const { pair } = KeyObject.partsOf(readPair(key, isPrivate));
    const { padding, oaepHash, oaepLabel }: Options = typeof key === 'object' && key !== null ? Object(key) : {};
    const defaultPadding = /^private(?:Encrypt)|^publicDecrypt/.test(work) ? 1 : 4;
    const label = oaepLabel === undefined ? undefined : base64(oaepLabel);
    return Buffer.from(
      askBytes(
        'key.rsa',
        JSON.stringify({ key: pair?.key, isPrivate, work, padding: padding ?? defaultPadding, hash: oaepHash, label }),
        toBytes(data),
      ),
    );
  };

export const publicEncrypt = rsa('publicEncrypt', false);
export const privateDecrypt = rsa('privateDecrypt', true);
export const privateEncrypt = rsa('privateEncrypt', true);
export const publicDecrypt = rsa('publicDecrypt', false);

function textOf(data: unknown): string {
  return typeof data === 'string' ? data : Buffer.from(toBytes(data)).toString();
}
