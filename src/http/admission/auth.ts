import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { type Caller, operatorCaller } from '../../callers/caller.ts';
import { hashSecret, type KeyRing } from '../../callers/key-ring.ts';
import { readAdminToken } from '../../client/token-file.ts';
import type { Config } from '../../config/config-types.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { createAnonymousCallers } from './anonymous-callers.ts';

/**
 * Says who sends a request with this Authorization header; undefined when nobody known. With the address of the sender a
 * request without a header may be let in as an anonymous caller; throws `rate-limited` when there were too many from there.
 */
export type Authenticate = (authorization: string | undefined, anonymousAddress?: string) => Caller | undefined;

/** False when a key was changed, was revoked or has ended since: whoever came with it must come again. */
export type IsCurrent = (caller: Caller) => boolean;

/** What the doors know callers by. */
export interface Authenticator {
  readonly authenticate: Authenticate;
  readonly isCurrent: IsCurrent;
  /** False when a key was revoked or has ended since: whoever came with it gets no answer any more. */
  readonly isValid: (caller: Caller) => boolean;
  /** Calls `changed` whenever somebody may not be current any more, until the returned function is called. */
  readonly watchKeys: KeyRing['watch'];
  /** The admin token of this daemon. */
  readonly adminToken: string;
}

const maxHeaderLength = 1024;

/** Reads or makes the admin token and checks tokens and keys. Only hashes are compared, so timing tells nothing of a secret. */
export function createAuthenticator(parts: {
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly keys: KeyRing;
  /** What requests without a token may do; nothing when absent. */
  readonly anonymous?: Config['anonymous'];
}): Authenticator {
  const adminToken = readAdminToken(parts);
  const adminHash = Buffer.from(hashSecret(adminToken));
  const admitAnonymous = createAnonymousCallers(parts.anonymous);
  const needsNoKey = (caller: Caller): boolean => caller === operatorCaller || caller.isAnonymous === true;
  return {
    adminToken,
    isCurrent: (caller) => needsNoKey(caller) || parts.keys.current(caller.id) === caller,
    isValid: (caller) => needsNoKey(caller) || parts.keys.current(caller.id) !== undefined,
    watchKeys: parts.keys.watch,
    authenticate(authorization, anonymousAddress) {
      if (authorization === undefined && anonymousAddress !== undefined) return admitAnonymous(anonymousAddress);
      const token = readBearer(authorization);
      if (token === undefined) return undefined;
      const tokenHash = hashSecret(token);
      if (timingSafeEqual(Buffer.from(tokenHash), adminHash)) return operatorCaller;
      return parts.keys.find(tokenHash);
    },
  };
}

function readBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > maxHeaderLength) return undefined;
  const scheme = authorization.slice(0, 7);
  return scheme === 'Bearer ' || scheme.toLowerCase() === 'bearer ' ? authorization.slice(7).trim() : undefined;
}

/**
 * The way in of every door: who sends a request is known before its body is read, since the megabytes of somebody unknown are not
 * worth parsing. `mayBeAnonymous` lets callers without a token in where the config does.
 */
export function admit(
  authenticate: Authenticate,
  { readKey = ({ headers }) => headers.authorization, mayBeAnonymous = false }: AdmitOptions = {},
): onRequestHookHandler {
  return (request, _reply, done) => {
    const authorization = readKey(request);
    const caller = mayBeAnonymous ? authenticate(authorization, request.ip) : authenticate(authorization);
    if (caller === undefined) return done(refuseAnonymous(authorization));
    request.caller = caller;
    done();
  };
}

interface AdmitOptions {
  /** Where the key stands, as an Authorization header has it. */
  readonly readKey?: (request: FastifyRequest) => string | undefined;
  readonly mayBeAnonymous?: boolean;
}

/** The refusal of a request without a token, or with one that nobody has. */
function refuseAnonymous(authorization: string | undefined): HotcellError {
  const got = authorization === undefined ? 'none' : 'one that is not known, or was revoked';
  return new HotcellError('unauthenticated', `Expected a token or key in the Authorization header, got ${got}.`);
}

/** What is answered in place of an answer whose key was revoked or ended while it was made. */
export function refuseEnded(): HotcellError {
  return new HotcellError('unauthenticated', 'The key of this request was revoked or ended before its answer was there.');
}
