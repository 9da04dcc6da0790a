import type { Dispatcher } from 'undici';
import type { CapabilityUser } from '../../border/capability-user.ts';
import { listPlaceholders } from '../../secrets/placeholders.ts';
import type { SecretRegistry } from '../../secrets/secret-types.ts';
import type { Connections } from './connections.ts';
import { type Destination, parseDestination } from './destination.ts';
import { describePlace, type NetworkCheck } from './network-check.ts';
import type { OutgoingRequest } from './request-headers.ts';
import { checkRedirect, fillSecrets } from './secret-request.ts';

/** How a request travels, and what becomes of what it meets. */
export interface RequestWay<Answer> {
  readonly check: NetworkCheck;
  readonly connections: Connections;
  readonly secrets: Pick<SecretRegistry, 'findIn' | 'redactor'> | undefined;
  readonly redirect: 'follow' | 'error' | 'manual' | undefined;
  readonly maxRedirects: number;
  readonly signal: AbortSignal;
  /** For whom a destination is reached; what is granted to it decides. */
  readonly userOf: (destination: Destination) => CapabilityUser;
  /** Keeps the sockets of one owner apart from those of others. */
  readonly ownerOf: (user: CapabilityUser) => string;
  /** Puts into a request what goes to this destination alone. */
  readonly complete?: (request: OutgoingRequest, destination: Destination) => OutgoingRequest;
  readonly answer: (response: Dispatcher.ResponseData, at: ReachedPlace) => Answer | Promise<Answer>;
  /** The error for a redirect that is not followed after so many. */
  readonly refuse: (where: string, hops: number) => Error;
  /** The error for whatever went wrong on the way to a place. */
  readonly explain: (error: unknown, where: string) => unknown;
}

/** Where a request arrived, after how many redirects. */
export interface ReachedPlace {
  readonly destination: Destination;
  readonly method: string;
  readonly hops: number;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const bodyHeaders = new Set(['content-encoding', 'content-language', 'content-location', 'content-type']);
const credentialHeaders = new Set(['authorization', 'cookie']);

/** Sends a request and follows its redirects hop by hop; every hop is checked like the first. */
export async function followRedirects<Answer>(way: RequestWay<Answer>, first: OutgoingRequest, url: string): Promise<Answer> {
  let destination = parseDestination(url);
  let request = first;
  for (let hops = 0; ; hops++) {
    const where = describePlace(destination);
    try {
      const user = way.userOf(destination);
      const checked = await way.check(destination, user, way.signal);
      const whole = way.complete?.(request, destination) ?? request;
      const sent = fillSecrets(way.secrets, { destination: checked, request: whole }, user);
      const response = await way.connections.send(sent.destination, way.ownerOf(user), sent.request, way.signal);
      const { location } = response.headers;
      if (!isRedirect(response.statusCode) || way.redirect === 'manual' || typeof location !== 'string') {
        return await way.answer(response, { destination, method: request.method, hops });
      }
      response.body.on('error', () => {}).destroy();
      if (way.redirect === 'error' || hops >= way.maxRedirects) throw way.refuse(where, hops);
      const next = parseDestination(location, destination.url);
      checkRedirect(way.secrets?.redactor, location, { from: destination.url, to: next.url });
      request = rewriteForRedirect(request, response.statusCode, { from: destination.url, to: next.url });
      destination = next;
    } catch (error) {
      throw way.explain(error, where);
    }
  }
}

/** Whether a status sends the client elsewhere. */
function isRedirect(status: number): boolean {
  return redirectStatuses.has(status);
}

/**
 * The request for the next hop, as the fetch standard rewrites it: POST becomes GET on 301 and 302, everything but HEAD
 * on 303, both without body; credentials, among them all headers that hold a secret, do not cross origins.
 */
function rewriteForRedirect(request: OutgoingRequest, status: number, hop: { from: URL; to: URL }): OutgoingRequest {
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
