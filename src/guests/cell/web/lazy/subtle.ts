/** `crypto.subtle` and CryptoKey: keys lie in the guest as bytes, every operation is the host's own. */
import { askNow, atob, btoa, DOMException, decodeText, encodeText, toBinary, toBytes } from '../base.ts';

interface Algorithm {
  readonly name: string;
  readonly [parameter: string]: unknown;
}

interface AsymmetricKey {
  readonly key: string;
  readonly isPrivate: boolean;
  readonly kind: string;
  readonly details: { readonly modulusLength?: number; readonly publicExponent?: number; readonly namedCurve?: string };
}

interface KeyParts {
  readonly type: 'secret' | 'private' | 'public';
  readonly algorithm: Algorithm;
  readonly extractable: boolean;
  readonly usages: readonly string[];
  /** Raw bytes of a secret key; DER in base64 of the others. */
  readonly secret?: Uint8Array;
  readonly pair?: AsymmetricKey;
}

const RSA_PKCS1_PSS_PADDING = 6;
const curves: Readonly<Record<string, string>> = { 'P-256': 'prime256v1', 'P-384': 'secp384r1', 'P-521': 'secp521r1' };
const curveNames: Readonly<Record<string, string>> = Object.fromEntries(Object.entries(curves).map(([web, host]) => [host, web]));
const hashBytes: Readonly<Record<string, number>> = { 'SHA-1': 64, 'SHA-256': 64, 'SHA-384': 128, 'SHA-512': 128 };
const names = [
  'HMAC',
  'AES-GCM',
  'AES-CBC',
  'AES-CTR',
  'AES-KW',
  'PBKDF2',
  'HKDF',
  'ECDSA',
  'ECDH',
  'Ed25519',
  'X25519',
  'RSASSA-PKCS1-v1_5',
  'RSA-PSS',
  'RSA-OAEP',
];

const partsOf = new WeakMap<object, KeyParts>();
let constructing = false;

export class CryptoKey {
  constructor() {
    if (!constructing) throw new TypeError('Illegal constructor: keys come from crypto.subtle');
  }
  get type() {
    return open(this).type;
  }
  get algorithm() {
    return open(this).algorithm;
  }
  get extractable() {
    return open(this).extractable;
  }
  get usages() {
    return [...open(this).usages];
  }
}

const fail = (name: string, message: string): Error => new DOMException(message, name);

function open(key: object): KeyParts {
  const parts = partsOf.get(key);
  if (!parts) throw new TypeError('This is no CryptoKey');
  return parts;
}

function makeKey(parts: KeyParts): CryptoKey {
  constructing = true;
  const key = new CryptoKey();
  constructing = false;
  partsOf.set(key, parts);
  return key;
}

function readAlgorithm(value: unknown): Algorithm {
  const given = typeof value === 'object' && value !== null ? (value as Algorithm) : { name: String(value) };
  const name = names.find((known) => known.toLowerCase() === String(given.name).toLowerCase());
  if (!name)
    throw fail(
      'NotSupportedError',
      `The algorithm "${String(given.name)}" is not available; there are ${names.join(', ')}. The engine deno has what its platform has.`,
    );
  return { ...given, name };
}

function hashOf(value: unknown, use = 'hash'): string {
  const name = String(typeof value === 'object' && value !== null ? Reflect.get(value, 'name') : value).toUpperCase();
  if (!Object.hasOwn(hashBytes, name))
    throw fail('NotSupportedError', `The ${use} "${name}" is not available; there are ${Object.keys(hashBytes).join(', ')}`);
  return name;
}

function bytesOf(value: unknown): Uint8Array {
  const bytes = toBytes(value);
  if (!bytes) throw new TypeError('Expected an ArrayBuffer or a view of one');
  return bytes;
}

const encode = (bytes: Uint8Array): string => btoa(toBinary(bytes));
const decode = (text: string): Uint8Array => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const encodeUrl = (bytes: Uint8Array): string => encode(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
const decodeUrl = (text: string): Uint8Array => decode(text.replace(/-/g, '+').replace(/_/g, '/'));

function work(op: string, request: object, body?: Uint8Array): ArrayBuffer {
  try {
    return askNow(op, JSON.stringify(request), body?.slice().buffer as ArrayBuffer | undefined) as ArrayBuffer;
  } catch (error) {
    throw fail('OperationError', error instanceof Error ? error.message : String(error));
  }
}
const read = (op: string, request: object, body?: Uint8Array) => JSON.parse(String(work(op, request, body)));

function use(key: object, usage: string, algorithm?: Algorithm): KeyParts {
  const parts = open(key);
  if (!parts.usages.includes(usage)) throw fail('InvalidAccessError', `The key may not be used to ${usage}`);
  if (algorithm && parts.algorithm.name !== algorithm.name)
    throw fail('InvalidAccessError', `The key is for ${parts.algorithm.name}, not for ${algorithm.name}`);
  return parts;
}

function secretKey(algorithm: Algorithm, secret: Uint8Array, extractable: boolean, usages: readonly string[]): CryptoKey {
  const { name } = algorithm;
  if (name.startsWith('AES') && ![16, 24, 32].includes(secret.length))
    throw fail('DataError', `A key for ${name} has 16, 24 or 32 bytes, not ${secret.length}`);
  const length = secret.length * 8;
  const details = name === 'HMAC' ? { hash: { name: hashOf(algorithm.hash) }, length } : name.startsWith('AES') ? { length } : {};
  return makeKey({ type: 'secret', algorithm: { name, ...details }, extractable, usages, secret });
}

function pairKey(algorithm: Algorithm, pair: AsymmetricKey, extractable: boolean, usages: readonly string[]): CryptoKey {
  const { name } = algorithm;
  const { modulusLength, namedCurve } = pair.details;
  const expected = name.startsWith('RSA') ? 'rsa' : name.startsWith('EC') ? 'ec' : name.toLowerCase();
  if (pair.kind !== expected) throw fail('DataError', `A key for ${name} is of the kind ${expected}, not ${pair.kind}`);
  const details = name.startsWith('RSA')
    ? { hash: { name: hashOf(algorithm.hash) }, modulusLength, publicExponent: Uint8Array.of(1, 0, 1) }
    : name.startsWith('EC')
      ? { namedCurve: curveNames[namedCurve ?? ''] ?? namedCurve }
      : {};
  const type = pair.isPrivate ? 'private' : 'public';
  return makeKey({ type, algorithm: { name, ...details }, extractable: pair.isPrivate ? extractable : true, usages, pair });
}

const isSecret = (name: string): boolean => /^(?:HMAC|AES-|PBKDF2|HKDF)/.test(name);

async function importKey(
  format: string,
  data: unknown,
  given: unknown,
  extractable: boolean,
  usages: readonly string[],
): Promise<CryptoKey> {
  const algorithm = readAlgorithm(given);
  const { name } = algorithm;
  if (isSecret(name)) {
    if (format !== 'raw' && format !== 'jwk')
      throw fail('NotSupportedError', `A key for ${name} is imported as raw or jwk, not as ${format}`);
    const secret = format === 'jwk' ? decodeUrl(String(Reflect.get(Object(data), 'k'))) : bytesOf(data).slice();
    return secretKey(algorithm, secret, extractable, usages);
  }
  const readKey = (request: object) => {
    try {
      return JSON.parse(String(askNow('key.read', JSON.stringify(request)))) as AsymmetricKey;
    } catch (error) {
      throw fail('DataError', error instanceof Error ? error.message : 'The key cannot be read');
    }
  };
  if (format === 'jwk') {
    return pairKey(
      algorithm,
      readKey({ text: JSON.stringify(data), format: 'jwk', isPrivate: 'd' in Object(data) }),
      extractable,
      usages,
    );
  }
  if (format === 'pkcs8' || format === 'spki') {
    const request = { text: encode(bytesOf(data)), format: 'der', type: format, isPrivate: format === 'pkcs8' };
    return pairKey(algorithm, readKey(request), extractable, usages);
  }
  if (format !== 'raw') throw fail('NotSupportedError', `The format "${format}" is not available`);
  const bytes = bytesOf(data);
  const half = (bytes.length - 1) / 2;
  const jwk = name.startsWith('EC')
    ? {
        kty: 'EC',
        crv: algorithm.namedCurve,
        x: encodeUrl(bytes.subarray(1, 1 + half)),
        y: encodeUrl(bytes.subarray(1 + half)),
      }
    : { kty: 'OKP', crv: name, x: encodeUrl(bytes) };
  return pairKey(algorithm, readKey({ text: JSON.stringify(jwk), format: 'jwk', isPrivate: false }), extractable, usages);
}

async function exportKey(format: string, key: object): Promise<unknown> {
  const { secret, pair, extractable, usages, algorithm } = open(key);
  if (!extractable) throw fail('InvalidAccessError', 'The key is not extractable');
  const facts = { key_ops: [...usages], ext: extractable };
  if (secret) return format === 'jwk' ? { kty: 'oct', k: encodeUrl(secret), ...facts } : secret.slice().buffer;
  if (!pair) throw fail('InvalidAccessError', 'The key holds nothing');
  const write = (as: string, type: string) => read('key.write', { key: pair.key, isPrivate: pair.isPrivate, format: as, type });
  const type = pair.isPrivate ? 'pkcs8' : 'spki';
  if (format === 'jwk') return { ...write('jwk', type), ...facts };
  if (format === type) return decode(pair.key).buffer;
  if (format !== 'raw' || pair.isPrivate) throw fail('NotSupportedError', `A ${open(key).type} key is not exported as ${format}`);
  const { x, y } = write('jwk', type);
  if (!algorithm.name.startsWith('EC')) return decodeUrl(x).buffer;
  return Uint8Array.of(4, ...decodeUrl(x), ...decodeUrl(y)).buffer;
}

async function generateKey(given: unknown, extractable: boolean, usages: readonly string[]): Promise<unknown> {
  const algorithm = readAlgorithm(given);
  const { name } = algorithm;
  if (isSecret(name)) {
    const bits = Number(algorithm.length ?? (hashBytes[hashOf(algorithm.hash)] ?? 64) * 8);
    const secret = new Uint8Array(askNow('crypto.random', String(Math.ceil(bits / 8))) as ArrayBuffer);
    return secretKey(algorithm, secret, extractable, usages);
  }
  const kind = name.startsWith('RSA') ? 'rsa' : name.startsWith('EC') ? 'ec' : name.toLowerCase();
  const [own, other] = read('key.generate', { kind, modulusLength: algorithm.modulusLength, namedCurve: algorithm.namedCurve });
  const ofPublic = ['verify', 'encrypt', 'wrapKey'];
  return {
    privateKey: pairKey(
      algorithm,
      own,
      extractable,
      usages.filter((usage) => !ofPublic.includes(usage)),
    ),
    publicKey: pairKey(
      algorithm,
      other,
      true,
      usages.filter((usage) => ofPublic.includes(usage)),
    ),
  };
}

function signing(algorithm: Algorithm, { pair, algorithm: own }: KeyParts): object {
  const { name } = algorithm;
  const hash = name === 'Ed25519' ? undefined : hashOf(name === 'ECDSA' ? algorithm.hash : own.hash);
  const padding = name === 'RSA-PSS' ? { padding: RSA_PKCS1_PSS_PADDING, saltLength: algorithm.saltLength } : {};
  return {
    key: pair?.key,
    isPrivate: pair?.isPrivate,
    hash,
    ...padding,
    ...(name === 'ECDSA' ? { dsaEncoding: 'ieee-p1363' } : {}),
  };
}

function authenticate({ secret = new Uint8Array(), algorithm }: KeyParts, data: Uint8Array): Uint8Array {
  const body = new Uint8Array(secret.length + data.length);
  body.set(secret);
  body.set(data, secret.length);
  return new Uint8Array(work('crypto.hmac', { algorithm: hashOf(algorithm.hash), keyBytes: secret.length }, body));
}

async function sign(given: unknown, key: object, data: unknown): Promise<ArrayBuffer> {
  const algorithm = readAlgorithm(given);
  const parts = use(key, 'sign', algorithm);
  if (algorithm.name === 'HMAC') return authenticate(parts, bytesOf(data)).slice().buffer;
  return work('key.sign', signing(algorithm, parts), bytesOf(data));
}

async function verify(given: unknown, key: object, signature: unknown, data: unknown): Promise<boolean> {
  const algorithm = readAlgorithm(given);
  const parts = use(key, 'verify', algorithm);
  const claimed = bytesOf(signature);
  if (algorithm.name !== 'HMAC')
    return read('key.verify', { ...signing(algorithm, parts), signature: encode(claimed) }, bytesOf(data));
  const expected = authenticate(parts, bytesOf(data));
  let difference = expected.length ^ claimed.length;
  for (let index = 0; index < expected.length; index++) difference |= (expected[index] ?? 0) ^ (claimed[index] ?? 0);
  return difference === 0;
}

function crypt(given: unknown, parts: KeyParts, data: Uint8Array, isDecrypting: boolean): ArrayBuffer {
  const algorithm = readAlgorithm(given);
  const { name } = algorithm;
  const { secret, pair } = parts;
  if (pair) {
    const label = algorithm.label === undefined ? {} : { label: encode(bytesOf(algorithm.label)) };
    const request = {
      key: pair.key,
      isPrivate: pair.isPrivate,
      work: isDecrypting ? 'privateDecrypt' : 'publicEncrypt',
      hash: hashOf(parts.algorithm.hash),
      ...label,
    };
    return work('key.rsa', request, data);
  }
  const bits = (secret?.length ?? 0) * 8;
  const request = { key: encode(secret ?? new Uint8Array()), isDecrypting, isPadded: true };
  if (name !== 'AES-GCM') {
    const iv = encode(bytesOf(name === 'AES-CTR' ? algorithm.counter : algorithm.iv));
    return work('key.cipher', { ...request, name: `aes-${bits}-${name.slice(4).toLowerCase()}`, iv }, data);
  }
  const tagBytes = Number(algorithm.tagLength ?? 128) / 8;
  const aad = algorithm.additionalData === undefined ? {} : { aad: encode(bytesOf(algorithm.additionalData)) };
  const sealed = { ...request, name: `aes-${bits}-gcm`, iv: encode(bytesOf(algorithm.iv)), tagBytes, ...aad };
  if (!isDecrypting) return work('key.cipher', sealed, data);
  const end = Math.max(0, data.length - tagBytes);
  return work('key.cipher', { ...sealed, tag: encode(data.subarray(end)) }, data.subarray(0, end));
}

async function deriveBits(given: unknown, key: object, length: number | null, usage = 'deriveBits'): Promise<ArrayBuffer> {
  const algorithm = readAlgorithm(given);
  const { name } = algorithm;
  const { secret, pair } = use(key, usage, algorithm);
  if (pair) {
    const other = open(algorithm.public as object).pair;
    const agreed = work('key.agree', { privateKey: pair.key, publicKey: other?.key });
    return length === null ? agreed : agreed.slice(0, Math.ceil(length / 8));
  }
  const request = {
    key: encode(secret ?? new Uint8Array()),
    salt: encode(bytesOf(algorithm.salt)),
    bytes: Number(length) / 8,
    hash: hashOf(algorithm.hash),
  };
  return name === 'HKDF'
    ? work('key.derive', { ...request, kind: 'hkdf', info: encode(bytesOf(algorithm.info)) })
    : work('key.derive', { ...request, kind: 'pbkdf2', rounds: Number(algorithm.iterations) });
}

async function digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
  const name = hashOf(algorithm, 'digest');
  const bytes = toBytes(data);
  if (!bytes) throw new TypeError('crypto.subtle.digest expects an ArrayBuffer or a view of one');
  return askNow('crypto.digest', name, bytes.buffer) as ArrayBuffer;
}

export const subtle = {
  digest,
  importKey,
  exportKey,
  generateKey,
  sign,
  verify,
  encrypt: async (algorithm: unknown, key: object, data: unknown) =>
    crypt(algorithm, use(key, 'encrypt', readAlgorithm(algorithm)), bytesOf(data), false),
  decrypt: async (algorithm: unknown, key: object, data: unknown) =>
    crypt(algorithm, use(key, 'decrypt', readAlgorithm(algorithm)), bytesOf(data), true),
  deriveBits: (algorithm: unknown, key: object, length: number | null = null) => deriveBits(algorithm, key, length),
  async deriveKey(algorithm: unknown, key: object, given: unknown, extractable: boolean, usages: readonly string[]) {
    const derived = readAlgorithm(given);
    const bits = Number(derived.length ?? (derived.hash === undefined ? 256 : (hashBytes[hashOf(derived.hash)] ?? 64) * 8));
    const bytes = new Uint8Array(await deriveBits(algorithm, key, bits, 'deriveKey'));
    return secretKey(derived, bytes, extractable, usages);
  },
  async wrapKey(format: string, key: object, wrapping: object, algorithm: unknown) {
    const exported = await exportKey(format, key);
    const bytes = format === 'jwk' ? encodeText(JSON.stringify(exported)) : new Uint8Array(exported as ArrayBuffer);
    return crypt(algorithm, use(wrapping, 'wrapKey'), bytes, false);
  },
  async unwrapKey(
    format: string,
    wrapped: unknown,
    unwrapping: object,
    algorithm: unknown,
    given: unknown,
    extractable: boolean,
    usages: readonly string[],
  ) {
    const bytes = crypt(algorithm, use(unwrapping, 'unwrapKey'), bytesOf(wrapped), true);
    const data: unknown = format === 'jwk' ? JSON.parse(decodeText(new Uint8Array(bytes))) : bytes;
    return importKey(format, data, given, extractable, usages);
  },
};
