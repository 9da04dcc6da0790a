import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hash as digest,
  generateKeyPairSync,
  getCipherInfo,
  hkdfSync,
  type KeyObject,
  pbkdf2Sync,
  privateDecrypt,
  privateEncrypt,
  publicDecrypt,
  publicEncrypt,
  scryptSync,
  sign,
  verify,
} from 'node:crypto';
import { type AnswerNow, readRequest } from './host-answer.ts';
import { HostRefusal } from './host-refusal.ts';
import { countSealedWork } from './sealed-key.ts';
import { Shape } from './shape.ts';

/** Bounds of what takes the processor long: some hundred milliseconds each. */
const maxModulusBits = 4096;
const maxRounds = 4_000_000;
/** How many rounds of SHA-256 one round takes, at most; digests without an entry are among the slow ones. */
const roundCosts: ReadonlyMap<string, number> = new Map([
  ...['md5', 'sha1', 'sha224', 'sha256'].map((name): [string, number] => [name, 1]),
  ...['sha384', 'sha512'].map((name): [string, number] => [name, 2]),
]);
const slowRoundCost = 8;
const maxScryptBytes = 64 * 1024 * 1024;
const maxDerivedBytes = 1024 * 1024;
/** A private RSA key of `maxModulusBits` has less; the numbers in a key decide how long it takes, whatever it says of its size. */
const maxPrivateKeyBytes = 2560;

const text = Shape.String({ maxLength: 100_000 });
const optionalText = Shape.Optional(text);
const optionalNumber = Shape.Optional(Shape.Number());
const keyRequest = { key: text, isPrivate: Shape.Boolean() };
const kinds = ['rsa', 'rsa-pss', 'ec', 'ed25519', 'x25519'] as const;
const readKeyRequest = Shape.Object({
  text,
  format: Shape.Literals(['pem', 'jwk', 'der']),
  type: optionalText,
  isPrivate: Shape.Boolean(),
  passphrase: optionalText,
});
const writeKeyRequest = Shape.Object({
  ...keyRequest,
  format: Shape.Literals(['pem', 'jwk', 'der']),
  type: Shape.Literals(['spki', 'pkcs8', 'pkcs1', 'sec1']),
});
const generateRequest = Shape.Object({
  kind: Shape.Literals(kinds),
  modulusLength: optionalNumber,
  publicExponent: optionalNumber,
  namedCurve: optionalText,
});
const signRequest = Shape.Object({
  ...keyRequest,
  hash: optionalText,
  padding: optionalNumber,
  saltLength: optionalNumber,
  dsaEncoding: Shape.Optional(Shape.Literals(['der', 'ieee-p1363'])),
  signature: optionalText,
});
const rsaRequest = Shape.Object({
  ...keyRequest,
  work: Shape.Literals(['publicEncrypt', 'privateDecrypt', 'privateEncrypt', 'publicDecrypt']),
  padding: optionalNumber,
  hash: optionalText,
  label: optionalText,
});
const cipherRequest = Shape.Object({
  name: text,
  key: text,
  iv: optionalText,
  aad: optionalText,
  tag: optionalText,
  tagBytes: optionalNumber,
  isDecrypting: Shape.Boolean(),
  isPadded: Shape.Boolean(),
});
const deriveRequest = Shape.Object({
  kind: Shape.Literals(['pbkdf2', 'hkdf', 'scrypt']),
  key: text,
  salt: text,
  bytes: Shape.Integer({ minimum: 0 }),
  hash: optionalText,
  info: optionalText,
  rounds: optionalNumber,
  cost: optionalNumber,
  blockSize: optionalNumber,
  parallelization: optionalNumber,
});
const agreeRequest = Shape.Object({ privateKey: text, publicKey: text });

/** Keys, signatures, ciphers and derived keys. A key crosses as its DER in base64: the host keeps none. */
export const keyAnswers: Readonly<Record<string, AnswerNow>> = {
  'key.read': (payload) => {
    const { text: key, format, type, isPrivate, passphrase } = readRequest(readKeyRequest, payload, 'key.read');
    const input =
      passphrase === undefined || format === 'jwk'
        ? { key: format === 'der' ? Buffer.from(key, 'base64') : format === 'jwk' ? JSON.parse(key) : key, format, type }
        : openSealed({ text: key, format, type, passphrase });
    return describeKey(Reflect.apply(isPrivate ? createPrivateKey : createPublicKey, undefined, [input]));
  },
  'key.write': (payload) => {
    const { format, type, ...key } = readRequest(writeKeyRequest, payload, 'key.write');
    const object = openKey(key);
    if (format === 'jwk') return JSON.stringify(object.export({ format }));
    const written: unknown = Reflect.apply(object.export, object, [{ format, type }]);
    return JSON.stringify(Buffer.isBuffer(written) ? written.toString('base64') : written);
  },
  'key.generate': (payload) => {
    const {
      kind,
      modulusLength = 2048,
      publicExponent = 65_537,
      namedCurve = 'P-256',
    } = readRequest(generateRequest, payload, 'key.generate');
    if (modulusLength > maxModulusBits)
      throw tooMuch(`RSA keys have ${maxModulusBits} bits at most, asked for ${modulusLength}.`);
    const { publicKey, privateKey } = generate(kind, { modulusLength, publicExponent, namedCurve });
    return `[${describeKey(privateKey)},${describeKey(publicKey)}]`;
  },
  'key.sign': (payload, body) => {
    const { hash, ...request } = readRequest(signRequest, payload, 'key.sign');
    return sign(hash, body, { key: openKey(request), ...pick(request) });
  },
  'key.verify': (payload, body) => {
    const { hash, signature = '', ...request } = readRequest(signRequest, payload, 'key.verify');
    return String(verify(hash, body, { key: openKey(request), ...pick(request) }, Buffer.from(signature, 'base64')));
  },
  'key.rsa': (payload, body) => {
    const { work, padding = constants.RSA_PKCS1_OAEP_PADDING, hash, label, ...key } = readRequest(rsaRequest, payload, 'key.rsa');
    const options = {
      key: openKey(key),
      padding,
      ...(hash === undefined ? {} : { oaepHash: hash }),
      ...(label === undefined ? {} : { oaepLabel: Buffer.from(label, 'base64') }),
    };
    return { publicEncrypt, privateDecrypt, privateEncrypt, publicDecrypt }[work](options, body);
  },
  'key.agree': (payload) => {
    const { privateKey, publicKey } = readRequest(agreeRequest, payload, 'key.agree');
    return diffieHellman({
      privateKey: openKey({ key: privateKey, isPrivate: true }),
      publicKey: openKey({ key: publicKey, isPrivate: false }),
    });
  },
  'key.derive': (payload) => {
    const { kind, bytes, hash = 'sha256', rounds = 1, info = '', ...request } = readRequest(deriveRequest, payload, 'key.derive');
    const [key, salt] = [Buffer.from(request.key, 'base64'), Buffer.from(request.salt, 'base64')];
    if (bytes > maxDerivedBytes) throw tooMuch(`${kind} derives ${maxDerivedBytes} bytes at most, asked for ${bytes}.`);
    if (kind === 'hkdf') return new Uint8Array(hkdfSync(hash, key, salt, Buffer.from(info, 'base64'), bytes));
    if (kind === 'pbkdf2') {
      const most = Math.floor(
        maxRounds / (costOfRound(hash) * Math.max(1, Math.ceil(bytes / digest(hash, '', 'buffer').length))),
      );
      if (rounds > most)
        throw tooMuch(`pbkdf2 with ${hash} takes ${most} rounds at most for ${bytes} bytes, asked for ${rounds}.`);
      return pbkdf2Sync(key, salt, rounds, bytes, hash);
    }
    const { cost = 16_384, blockSize = 8, parallelization = 1 } = request;
    const needed = 128 * cost * blockSize * parallelization;
    if (!(needed <= maxScryptBytes)) throw tooMuch(`scrypt may use ${maxScryptBytes} bytes, asked for ${needed}.`);
    return scryptSync(key, salt, bytes, { cost, blockSize, parallelization, maxmem: 2 * maxScryptBytes });
  },
  'key.cipher': (payload, body) => {
    const { name, isDecrypting, isPadded, tagBytes = 16, ...request } = readRequest(cipherRequest, payload, 'key.cipher');
    const [key, iv] = [Buffer.from(request.key, 'base64'), request.iv === undefined ? null : Buffer.from(request.iv, 'base64')];
    const isSealed = /gcm|ccm|ocb|poly1305/i.test(name);
    const options = isSealed ? { authTagLength: tagBytes } : {};
    const make = isDecrypting ? createDecipheriv : createCipheriv;
    const cipher: ReturnType<typeof make> = Reflect.apply(make, undefined, [name, key, iv, options]);
    if (!isPadded) cipher.setAutoPadding(false);
    if ('setAAD' in cipher && request.aad !== undefined)
      Reflect.apply(Object(cipher.setAAD), cipher, [Buffer.from(request.aad, 'base64')]);
    if ('setAuthTag' in cipher && request.tag !== undefined)
      Reflect.apply(Object(cipher.setAuthTag), cipher, [Buffer.from(request.tag, 'base64')]);
    const parts = [cipher.update(body), cipher.final()];
    // What is sealed ends with its tag.
    if (isSealed && 'getAuthTag' in cipher) parts.push(Reflect.apply(Object(cipher.getAuthTag), cipher, []));
    return Buffer.concat(parts);
  },
  'key.cipher-info': (payload) => JSON.stringify(getCipherInfo(payload.slice(0, 60)) ?? null),
};

/**
 * A key under a passphrase says by itself how much work opening it is, up to hours. What was counted is what is opened: the
 * sealed block alone, as DER.
 */
function openSealed({
  text: key,
  format,
  type,
  passphrase,
}: {
  text: string;
  format: string;
  type: string | undefined;
  passphrase: string;
}) {
  const block = /-----BEGIN ENCRYPTED PRIVATE KEY-----([^-]*)-----END/.exec(key)?.[1];
  if (format !== 'der' && block === undefined && !key.includes('ENCRYPTED PRIVATE KEY')) return { key, format, type, passphrase };
  const der = Buffer.from(format === 'der' ? key : (block ?? ''), 'base64');
  // Which digest it takes is not looked at.
  const most = maxRounds / slowRoundCost;
  if (countSealedWork(der) > most) throw tooMuch(`a key may ask for ${most} rounds at most to be opened.`);
  return { key: der, format: 'der', type: format === 'der' ? type : 'pkcs8', passphrase };
}

function openKey({ key, isPrivate }: { readonly key: string; readonly isPrivate: boolean }): KeyObject {
  const der = Buffer.from(key, 'base64');
  if (isPrivate) checkSize(der);
  return isPrivate
    ? createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    : createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function describeKey(key: KeyObject): string {
  const isPrivate = key.type === 'private';
  const der = key.export({ format: 'der', type: isPrivate ? 'pkcs8' : 'spki' });
  if (isPrivate) checkSize(der);
  const { asymmetricKeyType: kind, asymmetricKeyDetails: details = {} } = key;
  const { publicExponent, ...others } = details;
  const exponent = publicExponent === undefined ? {} : { publicExponent: Number(publicExponent) };
  return JSON.stringify({ key: der.toString('base64'), isPrivate, kind, details: { ...others, ...exponent } });
}

function checkSize(der: Buffer): void {
  if (der.length > maxPrivateKeyBytes)
    throw tooMuch(`private keys have ${maxModulusBits} bits at most; this one takes ${der.length} bytes.`);
}

function pick({
  padding,
  saltLength,
  dsaEncoding,
}: {
  padding?: number;
  saltLength?: number;
  dsaEncoding?: 'der' | 'ieee-p1363';
}) {
  return {
    ...(padding === undefined ? {} : { padding }),
    ...(saltLength === undefined ? {} : { saltLength }),
    ...(dsaEncoding === undefined ? {} : { dsaEncoding }),
  };
}

function generate(
  kind: (typeof kinds)[number],
  { modulusLength, publicExponent, namedCurve }: { modulusLength: number; publicExponent: number; namedCurve: string },
) {
  switch (kind) {
    case 'rsa':
      return generateKeyPairSync('rsa', { modulusLength, publicExponent });
    case 'rsa-pss':
      return generateKeyPairSync('rsa-pss', { modulusLength, publicExponent });
    case 'ec':
      return generateKeyPairSync('ec', { namedCurve });
    case 'ed25519':
      return generateKeyPairSync('ed25519');
    case 'x25519':
      return generateKeyPairSync('x25519');
  }
}

function costOfRound(hash: string): number {
  return roundCosts.get(hash.toLowerCase().replace('-', '')) ?? slowRoundCost;
}

function tooMuch(message: string): HostRefusal {
  return new HostRefusal('payload-too-large', message);
}
