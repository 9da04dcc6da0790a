/** Hashes without a host's crypto. */
import { hmac } from '@noble/hashes/hmac.js';
import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha224, sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { makeRefusal } from '../refusal.ts';

const hashes = { md5, sha1, sha224, sha256, sha384, sha512 };

/** The answers by operation, as in the daemon. */
export const answers: Readonly<Record<string, (payload: string, body: Uint8Array) => ArrayBuffer>> = {
  'crypto.digest': (payload, body) => exact(findHash(payload)(body)),
  // The body is the key, then the data.
  'crypto.hmac': (payload, body) => {
    const { algorithm, keyBytes } = JSON.parse(payload);
    return exact(hmac(findHash(algorithm), body.subarray(0, keyBytes), body.subarray(keyBytes)));
  },
};

function findHash(name: string) {
  const plain = name.toLowerCase().replace('sha-', 'sha');
  const known = Object.entries(hashes).find(([each]) => each === plain);
  if (known) return known[1];
  const message = `The hash "${name.slice(0, 40)}" is not available; there are ${Object.keys(hashes).join(', ')}.`;
  throw makeRefusal('not-supported', message);
}

function exact(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
