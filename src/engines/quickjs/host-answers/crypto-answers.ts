import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type AnswerNow, asks } from './host-answer.ts';
import { HostRefusal } from './host-refusal.ts';
import { Shape } from './shape.ts';

const maxRandomBytes = 65_536;

/** As the host calls them; the web writes `SHA-256`. */
const hashNames: ReadonlySet<string> = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']);
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
  'crypto.hmac': asks(hmacRequest, ({ algorithm, keyBytes }, body) =>
    createHmac(findHash(algorithm), body.subarray(0, keyBytes)).update(body.subarray(keyBytes)).digest(),
  ),
};

function findHash(name: string): string {
  const found = name.toLowerCase().replace(/^sha-/, 'sha');
  if (hashNames.has(found)) return found;
  throw new HostRefusal(
    'not-supported',
    `The hash "${name.slice(0, 40)}" is not available; there are ${[...hashNames].join(', ')}.`,
  );
}
