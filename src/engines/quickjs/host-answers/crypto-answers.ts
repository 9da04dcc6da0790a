import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type AnswerNow, readRequest } from './host-answer.ts';
import { HostRefusal } from './host-refusal.ts';
import { Shape } from './shape.ts';

const maxRandomBytes = 65_536;

/** Names of the web and of Node, in lower case, to what the host calls them. */
const hashNames: Readonly<Record<string, string>> = {
  md5: 'md5',
  'sha-1': 'sha1',
  sha1: 'sha1',
  'sha-224': 'sha224',
  sha224: 'sha224',
  'sha-256': 'sha256',
  sha256: 'sha256',
  'sha-384': 'sha384',
  sha384: 'sha384',
  'sha-512': 'sha512',
  sha512: 'sha512',
};

const hmacRequest = Shape.Object({ algorithm: Shape.String({ maxLength: 20 }), keyBytes: Shape.Integer({ minimum: 0 }) });

/** Randomness and hashes. */
export const cryptoAnswers: Readonly<Record<string, AnswerNow>> = {
  'crypto.random': (payload) => {
    const count = Number(payload);
    if (!Number.isInteger(count) || count < 0 || count > maxRandomBytes) {
      throw new HostRefusal(
        'arguments-invalid',
        `crypto.random gives 0 to ${maxRandomBytes} bytes, asked for ${payload.slice(0, 20)}.`,
      );
    }
    return randomBytes(count);
  },
  'crypto.uuid': () => randomUUID(),
  'crypto.digest': (payload, body) => createHash(findHash(payload)).update(body).digest(),
  // The body is the key, then the data.
  'crypto.hmac': (payload, body) => {
    const { algorithm, keyBytes } = readRequest(hmacRequest, payload, 'crypto.hmac');
    return createHmac(findHash(algorithm), body.subarray(0, keyBytes)).update(body.subarray(keyBytes)).digest();
  },
};

function findHash(name: string): string {
  const found = Object.hasOwn(hashNames, name.toLowerCase()) ? hashNames[name.toLowerCase()] : undefined;
  if (found === undefined) {
    throw new HostRefusal(
      'not-supported',
      `The hash "${name.slice(0, 40)}" is not available; there are md5, sha1, sha224, sha256, sha384, sha512.`,
    );
  }
  return found;
}
