import { listPlaceholders } from '../../secrets/placeholders.ts';
import type { HeaderList } from './request-headers.ts';

/** One request on its way, whatever hop it is. */
export interface OutgoingRequest {
  readonly method: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array | undefined;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const bodyHeaders = new Set(['content-encoding', 'content-language', 'content-location', 'content-type']);
const credentialHeaders = new Set(['authorization', 'cookie']);

/** True for a status that sends the client elsewhere. */
export function isRedirect(status: number): boolean {
  return redirectStatuses.has(status);
}

/**
 * The request for the next hop, as the fetch standard rewrites it: POST becomes GET on 301 and 302, everything but HEAD
 * on 303, both without body; credentials, among them all headers that hold a secret, do not cross origins.
 */
export function rewriteForRedirect(request: OutgoingRequest, status: number, hop: { from: URL; to: URL }): OutgoingRequest {
  const becomesGet =
    ((status === 301 || status === 302) && request.method === 'POST') ||
    (status === 303 && request.method !== 'GET' && request.method !== 'HEAD');
  const crossesOrigins = hop.from.origin !== hop.to.origin;
  return {
    method: becomesGet ? 'GET' : request.method,
    headers: request.headers.filter(
      ([name, value]) => !(becomesGet && bodyHeaders.has(name)) && !(crossesOrigins && isCredential(name, value)),
    ),
    body: becomesGet ? undefined : request.body,
  };
}

function isCredential(name: string, value: string): boolean {
  return credentialHeaders.has(name) || listPlaceholders(value).length > 0;
}
