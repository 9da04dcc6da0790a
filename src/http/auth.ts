import { timingSafeEqual } from 'node:crypto';
import { readAdminToken } from '../client/token-file.ts';
import { hashSecret, type KeyRing } from '../operations/key-ring.ts';
import type { Caller } from '../tools/tool-types.ts';

/** Says who sends a request with this Authorization header; undefined when nobody known. */
export type Authenticate = (authorization: string | undefined) => Caller | undefined;

/** What the doors know callers by. */
export interface Authenticator {
  readonly authenticate: Authenticate;
  /** The admin token of this daemon. */
  readonly adminToken: string;
}

const maxHeaderLength = 1024;

/** Reads or makes the admin token and checks tokens and keys. Only hashes are compared, so timing tells nothing of a secret. */
export function createAuthenticator(parts: {
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly keys: KeyRing;
}): Authenticator {
  const adminToken = readAdminToken(parts);
  const adminHash = Buffer.from(hashSecret(adminToken));
  const local: Caller = Object.freeze({ id: 'local', role: 'admin' });
  return {
    adminToken,
    authenticate(authorization) {
      const token = readBearer(authorization);
      if (token === undefined) return undefined;
      const tokenHash = hashSecret(token);
      if (timingSafeEqual(Buffer.from(tokenHash), adminHash)) return local;
      return parts.keys.find(tokenHash);
    },
  };
}

function readBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > maxHeaderLength) return undefined;
  const scheme = authorization.slice(0, 7);
  return scheme === 'Bearer ' || scheme.toLowerCase() === 'bearer ' ? authorization.slice(7).trim() : undefined;
}
