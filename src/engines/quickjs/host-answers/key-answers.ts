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
import { type AnswerNow, asks } from './host-answer.ts';
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
const format = Shape.Literals(['pem', 'jwk', 'der']);
const keyFields = { key: text, isPrivate: Shape.Boolean() };
const readRequest = Shape.Object({ text, format, type: optionalText, isPrivate: Shape.Boolean(), passphrase: optionalText });
const writeRequest = Shape.Object({ ...keyFields, format, type: Shape.Literals(['spki', 'pkcs8', 'pkcs1', 'sec1']) });
const generateRequest = Shape.Object({
  kind: Shape.Literals(['rsa', 'rsa-pss', 'ec', 'ed25519', 'x25519']),
  modulusLength: optionalNumber,
  publicExponent: optionalNumber,
  namedCurve: optionalText,
});
const signRequest = Shape.Object({
  ...keyFields,
  hash: optionalText,
  padding: optionalNumber,
  saltLength: optionalNumber,
  dsaEncoding: Shape.Optional(Shape.Literals(['der', 'ieee-p1363'])),
  signature: optionalText,
});
const rsaWork = { publicEncrypt, privateDecrypt, privateEncrypt, publicDecrypt };
const rsaRequest = Shape.Object({
  ...keyFields,
  work: Shape.Keys(rsaWork),
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

/** Keys, signatures, ciphers and derived keys. A key crosses as its DER in base64: the host keeps none. */
export const keyAnswers: Readonly<Record<string, AnswerNow>> = {
  'key.read': asks(readRequest, ({ text: key, format: form, type, isPrivate, passphrase }) => {
    const input =
      passphrase === undefined || form === 'jwk'
        ? { key: form === 'der' ? fromBase64(key) : form === 'jwk' ? JSON.parse(key) : key, format: form, type }
        : openSealed({ key, format: form, type, passphrase });
    return describeKey(Reflect.apply(isPrivate ? createPrivateKey : createPublicKey, undefined, [input]));
  }),
  'key.write': asks(writeRequest, ({ format: form, type, ...key }) => {
    const object = openKey(key);
    if (form === 'jwk') return JSON.stringify(object.export({ format: form }));
    const written: unknown = Reflect.apply(object.export, object, [{ format: form, type }]);
    return JSON.stringify(Buffer.isBuffer(written) ? written.toString('base64') : written);
  }),
  'key.generate': asks(generateRequest, ({ kind, modulusLength = 2048, publicExponent = 65_537, namedCurve = 'P-256' }) => {
    if (modulusLength > maxModulusBits)
      throw tooMuch(`RSA keys have ${maxModulusBits} bits at most, asked for ${modulusLength}.`);
    // Each kind takes what it knows of the options.
    const made = Reflect.apply(generateKeyPairSync, undefined, [kind, { modulusLength, publicExponent, namedCurve }]);
    return `[${describeKey(made.privateKey)},${describeKey(made.publicKey)}]`;
  }),
  'key.sign': asks(signRequest, ({ hash, key, isPrivate, padding, saltLength, dsaEncoding }, body) =>
    sign(hash, body, { key: openKey({ key, isPrivate }), padding, saltLength, dsaEncoding }),
  ),
  'key.verify': asks(signRequest, ({ hash, signature = '', key, isPrivate, padding, saltLength, dsaEncoding }, body) =>
    String(verify(hash, body, { key: openKey({ key, isPrivate }), padding, saltLength, dsaEncoding }, fromBase64(signature))),
  ),
  'key.rsa': asks(rsaRequest, ({ work, padding = constants.RSA_PKCS1_OAEP_PADDING, hash, label, ...key }, body) =>
    rsaWork[work](
      {
        key: openKey(key),
        padding,
        ...(hash === undefined ? {} : { oaepHash: hash }),
        ...(label === undefined ? {} : { oaepLabel: fromBase64(label) }),
      },
      body,
    ),
  ),
  'key.agree': asks(Shape.Object({ privateKey: text, publicKey: text }), ({ privateKey, publicKey }) =>
    diffieHellman({
      privateKey: openKey({ key: privateKey, isPrivate: true }),
      publicKey: openKey({ key: publicKey, isPrivate: false }),
    }),
  ),
  'key.derive': asks(deriveRequest, ({ kind, bytes, hash = 'sha256', rounds = 1, info = '', ...request }) => {
    const [key, salt] = [fromBase64(request.key), fromBase64(request.salt)];
    if (bytes > maxDerivedBytes) throw tooMuch(`${kind} derives ${maxDerivedBytes} bytes at most, asked for ${bytes}.`);
    if (kind === 'hkdf') return new Uint8Array(hkdfSync(hash, key, salt, fromBase64(info), bytes));
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
  }),
  'key.cipher': asks(cipherRequest, ({ name, isDecrypting, isPadded, tagBytes = 16, ...request }, body) => {
    const [key, iv] = [fromBase64(request.key), request.iv === undefined ? null : fromBase64(request.iv)];
    const isSealed = /gcm|ccm|ocb|poly1305/i.test(name);
    const options = isSealed ? { authTagLength: tagBytes } : {};
    const make = isDecrypting ? createDecipheriv : createCipheriv;
    const cipher: ReturnType<typeof make> = Reflect.apply(make, undefined, [name, key, iv, options]);
    if (!isPadded) cipher.setAutoPadding(false);
    if ('setAAD' in cipher && request.aad !== undefined) Reflect.apply(Object(cipher.setAAD), cipher, [fromBase64(request.aad)]);
    if ('setAuthTag' in cipher && request.tag !== undefined)
      Reflect.apply(Object(cipher.setAuthTag), cipher, [fromBase64(request.tag)]);
    const parts = [cipher.update(body), cipher.final()];
    // What is sealed ends with its tag.
    if (isSealed && 'getAuthTag' in cipher) parts.push(Reflect.apply(Object(cipher.getAuthTag), cipher, []));
    return Buffer.concat(parts);
  }),
  'key.cipher-info': (payload) => JSON.stringify(getCipherInfo(payload.slice(0, 60)) ?? null),
};

/**
 * A key under a passphrase says by itself how much work opening it is, up to hours. What was counted is what is opened: the
 * sealed block alone, as DER.
 */
function openSealed(sealed: { key: string; format: string; type: string | undefined; passphrase: string }) {
  const { key, type, passphrase } = sealed;
  const isDer = sealed.format === 'der';
  const block = /-----BEGIN ENCRYPTED PRIVATE KEY-----([^-]*)-----END/.exec(key)?.[1];
  if (!isDer && block === undefined && !key.includes('ENCRYPTED PRIVATE KEY')) return sealed;
  const der = fromBase64(isDer ? key : (block ?? ''));
  // Which digest it takes is not looked at.
  const most = maxRounds / slowRoundCost;
  if (countSealedWork(der) > most) throw tooMuch(`a key may ask for ${most} rounds at most to be opened.`);
  return { key: der, format: 'der', type: isDer ? type : 'pkcs8', passphrase };
}

function openKey({ key, isPrivate }: { readonly key: string; readonly isPrivate: boolean }): KeyObject {
  const der = fromBase64(key);
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

function costOfRound(hash: string): number {
  return roundCosts.get(hash.toLowerCase().replace('-', '')) ?? slowRoundCost;
}

function fromBase64(written: string): Buffer {
  return Buffer.from(written, 'base64');
}

function tooMuch(message: string): HostRefusal {
  return new HostRefusal('payload-too-large', message);
}
