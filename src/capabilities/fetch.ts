import Type, { type Static } from 'typebox';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Capability, CapabilityResult, CapabilityTable, CapabilityUser } from './capability.ts';
import { type ByteAccount, type ByteBudget, createByteBudget } from './network/byte-budget.ts';
import { type Connections, createConnections } from './network/connections.ts';
import { type Destination, parseDestination } from './network/destination.ts';
import { dialChecked } from './network/dial.ts';
import { describeFailure, type FetchWait } from './network/failure.ts';
import { createNetworkCheck, describePlace, type NetworkCheck } from './network/network-check.ts';
import { isRedirect, type OutgoingRequest, rewriteForRedirect } from './network/redirects.ts';
import { checkRequestHeaders } from './network/request-headers.ts';
import { type Resolve, resolveBySystem } from './network/resolve.ts';
import { readBody } from './network/response-body.ts';
import { createPayloadReader } from './payload.ts';

const FetchPayload = Type.Object({
  url: Type.String(),
  method: Type.Optional(Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$" })),
  headers: Type.Optional(Type.Array(Type.Tuple([Type.String(), Type.String()]))),
  redirect: Type.Optional(Type.Enum(['follow', 'error', 'manual'])),
});
type FetchPayload = Static<typeof FetchPayload>;

interface Parts {
  readonly check: NetworkCheck;
  readonly connections: Connections;
  readonly budget: ByteBudget;
  readonly network: Config['network'];
}

interface Journey {
  readonly payload: FetchPayload;
  readonly user: CapabilityUser;
  readonly wait: FetchWait;
  /** Either end of the wait. */
  readonly signal: AbortSignal;
}

const MIB = 1024 * 1024;
const mostRequestBytes = 16 * MIB;
const standardMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
const refusedMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** `context.fetch`: HTTP through the one network check. The rest of a body over the limit is cut and `truncated` is true. */
export function createFetch(options: {
  network: Config['network'];
  resolve?: Resolve | undefined;
}): Capability & { dial: CapabilityTable['dial']; close(): Promise<void> } {
  const { network } = options;
  const connections = createConnections({ timeoutMs: network.timeoutMs });
  const check = createNetworkCheck({ resolve: options.resolve ?? resolveBySystem });
  const perOwnerBytes = Math.max(64 * MIB, 2 * network.maxResponseBytes);
  const budget = createByteBudget({ perOwnerBytes, totalBytes: 4 * perOwnerBytes });
  const parts: Parts = { check, connections, budget, network };
  const readPayload = createPayloadReader(FetchPayload);
  return {
    name: 'fetch',
    operations: ['fetch'],
    answer: async (request, user, call) => {
      const payload = readPayload(request);
      const outgoing = readRequest(payload, request.body);
      const deadline = AbortSignal.timeout(network.timeoutMs);
      const wait = { call, deadline, timeoutMs: network.timeoutMs };
      return travel(parts, outgoing, { payload, user, wait, signal: AbortSignal.any([call, deadline]) });
    },
    dial: (target, user, signal) => dialChecked(check, target, { user, signal, timeoutMs: network.timeoutMs }),
    close: () => connections.close(),
  };
}

function readRequest(payload: FetchPayload, body: Uint8Array | undefined): OutgoingRequest {
  const written = payload.method ?? 'GET';
  const method = standardMethods.has(written.toUpperCase()) ? written.toUpperCase() : written;
  if (refusedMethods.has(method.toUpperCase())) {
    throw new HotcellError('network-refused', `fetch does not send ${method} requests.`, {
      fix: 'Use GET, POST, PUT, PATCH or DELETE.',
    });
  }
  const hasBody = body !== undefined && body.length > 0;
  if (hasBody && (method === 'GET' || method === 'HEAD')) {
    throw new HotcellError('arguments-invalid', `A ${method} request carries no body.`, {
      fix: 'Use POST, or leave the body out.',
    });
  }
  if (hasBody && body.length > mostRequestBytes) {
    throw new HotcellError(
      'payload-too-large',
      `The body of a request may have at most ${mostRequestBytes} bytes; got ${body.length}.`,
    );
  }
  return { method, headers: checkRequestHeaders(payload.headers ?? []), body: hasBody ? body : undefined };
}

/** Follows redirects hop by hop; every hop is checked like the first. */
async function travel(parts: Parts, first: OutgoingRequest, journey: Journey): Promise<CapabilityResult> {
  const { redirect = 'follow', url } = journey.payload;
  let destination = parseDestination(url);
  let request = first;
  const owner = `${journey.user.plugin}\n${journey.user.caller}`;
  using account = parts.budget.open(owner);
  for (let hops = 0; ; hops++) {
    const where = describePlace(destination);
    try {
      const checked = await parts.check(destination, journey.user, journey.signal);
      const response = await parts.connections.send(checked, owner, request, journey.signal);
      const location = response.headers.location;
      if (!isRedirect(response.statusCode) || redirect === 'manual' || typeof location !== 'string') {
        return await readResponse(response, request, {
          destination,
          redirected: hops > 0,
          maxBytes: parts.network.maxResponseBytes,
          account,
        });
      }
      response.body.on('error', () => {}).destroy();
      if (redirect === 'error') throw failRedirect(`${where} redirects, and the request was made with redirect: "error"`);
      if (hops >= parts.network.maxRedirects) throw failRedirect(`${where} redirects once more after ${hops} redirects`);
      const next = parseDestination(location, destination.url);
      request = rewriteForRedirect(request, response.statusCode, { from: destination.url, to: next.url });
      destination = next;
    } catch (error) {
      throw describeFailure(error, where, journey.wait);
    }
  }
}

type Response = Awaited<ReturnType<Connections['send']>>;

async function readResponse(
  response: Response,
  request: OutgoingRequest,
  facts: { destination: Destination; redirected: boolean; maxBytes: number; account: ByteAccount },
): Promise<CapabilityResult> {
  const hasBody = request.method !== 'HEAD' && response.statusCode !== 204 && response.statusCode !== 304;
  const coding = hasBody ? String(response.headers['content-encoding'] ?? '') : '';
  const { bytes, truncated } = await readBody(response.body, { coding, maxBytes: facts.maxBytes, account: facts.account });
  const url = new URL(facts.destination.url);
  url.hash = '';
  const headers = Object.entries(response.headers).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each]));
  return {
    payload: {
      status: response.statusCode,
      statusText: response.statusText,
      headers,
      url: url.href,
      redirected: facts.redirected,
      truncated,
    },
    body: bytes,
  };
}

function failRedirect(sentence: string): HotcellError {
  return new HotcellError('network-failed', `${sentence}.`, { fix: 'Use redirect: "manual" to look at the answer itself.' });
}
