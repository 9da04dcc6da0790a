import Type, { type Static } from 'typebox';
import type { Capability, CapabilityResult, CapabilityTable } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Redactor, SecretRegistry } from '../secrets/secret-types.ts';
import { createByteBudget } from './network/byte-budget.ts';
import { type Connections, createConnections } from './network/connections.ts';
import { dialChecked } from './network/dial.ts';
import { describeFailure, type FetchWait } from './network/failure.ts';
import { followRedirects } from './network/follow-redirects.ts';
import { createNetworkCheck, type NetworkCheck } from './network/network-check.ts';
import { createOpenRequests, type OpenRequests } from './network/open-requests.ts';
import { checkRequestHeaders, type OutgoingRequest } from './network/request-headers.ts';
import { type Resolve, resolveBySystem } from './network/resolve.ts';
import { answerResponse, type ReadingParts, readOn } from './network/response-answer.ts';
import { createResponseStreams } from './network/response-streams.ts';
import { createPayloadReader } from './payload.ts';

const FetchPayload = Type.Object({
  url: Type.String(),
  method: Type.Optional(Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$" })),
  headers: Type.Optional(Type.Array(Type.Tuple([Type.String(), Type.String()]))),
  redirect: Type.Optional(Type.Enum(['follow', 'error', 'manual'])),
});
type FetchPayload = Static<typeof FetchPayload>;
const ReadPayload = Type.Object({ stream: Type.String({ maxLength: 64 }), fill: Type.Optional(Type.Boolean()) });

interface Parts {
  readonly check: NetworkCheck;
  readonly connections: Connections;
  readonly reading: ReadingParts;
  readonly network: Config['network'];
  readonly secrets: Pick<SecretRegistry, 'findIn' | 'redactor'> | undefined;
}

interface Journey {
  readonly payload: FetchPayload;
  readonly user: CapabilityUser;
  readonly wait: FetchWait;
  /** Either end of the wait. */
  readonly signal: AbortSignal;
}

const MIB = 1024 * 1024;
const maxRequestBytes = 16 * MIB;
const standardMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
const refusedMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

/**
 * `context.fetch`: HTTP through the one network check. `fetch` answers the head and the body as far as it is there at once;
 * where more is to come there is a `stream`, and `fetch.read {stream, fill?}` answers `{done, truncated}` with the next bytes
 * (at least one, or with `fill` a large piece), `fetch.cancel {stream}` closes it. The rest of a body over the limit is cut
 * and `truncated` is true.
 */
export function createFetch(options: {
  network: Config['network'];
  resolve?: Resolve | undefined;
  /** Takes secrets out of bodies; that of `secrets` when absent. */
  redactor?: Redactor | undefined;
  /** Puts secrets into requests, and takes them out of bodies. */
  secrets?: Pick<SecretRegistry, 'findIn' | 'redactor'> | undefined;
  requests?: OpenRequests;
}) {
  const { network, requests = createOpenRequests() } = options;
  const connections = createConnections({ timeoutMs: network.timeoutMs });
  const check = createNetworkCheck({ resolve: options.resolve ?? resolveBySystem });
  const perOwnerBytes = Math.max(64 * MIB, 2 * network.maxResponseBytes);
  const budget = createByteBudget({ perOwnerBytes, totalBytes: 4 * perOwnerBytes });
  const streams = createResponseStreams({ idleMs: network.timeoutMs, requests });
  const reading = {
    streams,
    budget,
    maxBytes: network.maxResponseBytes,
    redactor: options.redactor ?? options.secrets?.redactor,
  };
  const parts: Parts = { check, connections, reading, network, secrets: options.secrets };
  const readFetch = createPayloadReader(FetchPayload);
  const readRead = createPayloadReader(ReadPayload);

  /** Ends with the call, or when its time is over. */
  async function within(call: AbortSignal, work: (ends: Pick<Journey, 'wait' | 'signal'>) => Promise<CapabilityResult>) {
    using deadline = startDeadline(network.timeoutMs);
    const wait = { call, deadline: deadline.signal, timeoutMs: network.timeoutMs };
    return await work({ wait, signal: AbortSignal.any([call, deadline.signal]) });
  }

  return {
    operations: {
      fetch: (request, user, call) =>
        within(call, async (ends) => {
          const payload = readFetch(request);
          const outgoing = readRequest(payload, request.body);
          const place = requests.open(user);
          try {
            return await travel(parts, outgoing, { payload, user, ...ends });
          } finally {
            place.leave();
          }
        }),
      'fetch.read': (request, user, call) => within(call, (ends) => readOn(reading, readRead(request), { user, ...ends })),
      'fetch.cancel': async (request, user) => {
        streams.close(readRead(request).stream, user.executionId);
        return { payload: null };
      },
    },
    async dial(target, user, signal) {
      const place = requests.open(user);
      try {
        const socket = await dialChecked(check, target, { user, signal, timeoutMs: network.timeoutMs });
        if (socket.closed) place.leave();
        return socket.once('close', () => place.leave());
      } catch (error) {
        place.leave();
        throw error;
      }
    },
    endCall: (executionId) => streams.endCall(executionId),
    close: async () => {
      streams.closeAll();
      await connections.close();
    },
  } satisfies Capability & Pick<CapabilityTable, 'dial' | 'endCall' | 'close'>;
}

/** Unlike `AbortSignal.timeout` it ends with its scope: a body that is read on later is not cut off by the time of its head. */
function startDeadline(timeoutMs: number): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
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
    throw new HotcellError('arguments-invalid', `A ${method} request carries no body, got ${body.length} bytes.`, {
      fix: 'Use POST, or leave the body out.',
    });
  }
  if (hasBody && body.length > maxRequestBytes) {
    throw new HotcellError(
      'payload-too-large',
      `The body of a request may have at most ${maxRequestBytes} bytes; got ${body.length}.`,
    );
  }
  return { method, headers: checkRequestHeaders(payload.headers ?? []), body: hasBody ? body : undefined };
}

/** Sends the request of a guest on its way. */
function travel(parts: Parts, first: OutgoingRequest, { payload, user, wait, signal }: Journey): Promise<CapabilityResult> {
  const { redirect, url } = payload;
  const owner = `${user.unitPath}\n${user.caller}`;
  return followRedirects(
    {
      ...parts,
      redirect,
      maxRedirects: parts.network.maxRedirects,
      signal,
      userOf: () => user,
      ownerOf: () => owner,
      answer: (response, { destination, method, hops }) =>
        answerResponse(parts.reading, response, { destination, method, redirected: hops > 0, owner, user, signal }),
      refuse: (where, hops) => {
        const why =
          redirect === 'error'
            ? 'redirects, and the request was made with redirect: "error"'
            : `redirects once more after ${hops} redirects`;
        return new HotcellError('network-failed', `${where} ${why}.`, {
          fix: 'Use redirect: "manual" to look at the answer itself.',
        });
      },
      explain: (error, where) => describeFailure(error, where, wait),
    },
    first,
    url,
  );
}
