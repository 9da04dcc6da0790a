import { Readable, Transform, type TransformCallback } from 'node:stream';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Connections } from './connections.ts';
import type { Destination } from './destination.ts';
import { describeFailure } from './failure.ts';
import { followRedirects, type RequestWay } from './follow-redirects.ts';
import { checkRequestHeaders, type HeaderList, type OutgoingRequest } from './request-headers.ts';

/** `fetch` for libraries of the daemon: every hop goes through the one network check, and what is read is bounded. */
export type CheckedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What it is made of. */
export interface CheckedFetchParts
  extends Pick<RequestWay<Response>, 'check' | 'connections' | 'secrets' | 'userOf' | 'maxRedirects'> {
  /** Headers that the host puts in for this destination; they win over those of the library. */
  readonly headersOf: (destination: Destination) => HeaderList;
  /** Hears what came of a body; of a stream of events the promise holds the reader back. */
  readonly onChunk?: (chunk: Uint8Array) => Promise<void> | undefined;
  /** The most of one body; of a stream of events the most of one event. */
  readonly maxBytes: number;
}

const noBody = new Set([204, 205, 304]);

/** Creates a fetch over checked connections. Rejects with a HotcellError, or with the reason of the request's signal. */
export function createCheckedFetch(parts: CheckedFetchParts): CheckedFetch {
  return async (url, init = {}) => {
    const signal = init.signal ?? new AbortController().signal;
    return followRedirects(
      {
        ...parts,
        redirect: init.redirect,
        signal,
        ownerOf: ({ unitPath }) => unitPath,
        complete: (request, destination) => ({
          ...request,
          headers: checkRequestHeaders(mergeHeaders(request.headers, parts.headersOf(destination))),
        }),
        answer: (response) => makeResponse(response, parts),
        refuse: (where) => new HotcellError('network-failed', `${where} redirects, which is not followed here.`),
        explain(error, where) {
          signal.throwIfAborted();
          return describeFailure(error, where, { call: signal, deadline: signal, timeoutMs: 0 });
        },
      },
      await readRequest(init),
      String(url),
    );
  };
}

async function readRequest(init: RequestInit): Promise<OutgoingRequest> {
  const { method = 'GET', body } = init;
  const headers = new Headers(init.headers);
  if (body === undefined || body === null) return { method: method.toUpperCase(), headers: [...headers], body: undefined };
  // Forms and blobs say their media type themselves.
  const read = new Response(body);
  const type = read.headers.get('content-type');
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  return { method: method.toUpperCase(), headers: [...headers], body: new Uint8Array(await read.arrayBuffer()) };
}

/** What comes is read as it is: nothing unpacks to more than was bounded. */
function mergeHeaders(headers: HeaderList, own: HeaderList): HeaderList {
  const taken = new Set([...own.map(([name]) => name.toLowerCase()), 'accept-encoding', 'connection', 'content-length']);
  return [...headers.filter(([name]) => !taken.has(name.toLowerCase())), ...own, ['accept-encoding', 'identity']];
}

function makeResponse(
  { statusCode: status, headers, body }: Awaited<ReturnType<Connections['send']>>,
  parts: Pick<CheckedFetchParts, 'maxBytes' | 'onChunk'>,
): Response {
  const read = new Headers();
  for (const [name, value = []] of Object.entries(headers)) {
    for (const each of [value].flat()) read.append(name, each);
  }
  if (noBody.has(status)) {
    body.on('error', () => {}).resume();
    return new Response(null, { status, headers: read });
  }
  const isStream = read.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
  const bounded = boundBody(parts, isStream);
  body.on('error', (error) => bounded.destroy(error));
  bounded.once('close', () => body.destroy());
  return new Response(Readable.toWeb(body.pipe(bounded)), { status, headers: read });
}

function boundBody({ maxBytes, onChunk }: Pick<CheckedFetchParts, 'maxBytes' | 'onChunk'>, isStream: boolean): Transform {
  let held = 0;
  let isLineEmpty = true;
  /** The length of what is not finished: of an event up to its empty line, of any other body from its beginning. */
  function count(chunk: Uint8Array): boolean {
    if (!isStream) {
      held += chunk.length;
      return held <= maxBytes;
    }
    for (const byte of chunk) {
      held += 1;
      if (byte === 0x0a) {
        if (isLineEmpty) held = 0;
        isLineEmpty = true;
      } else if (byte !== 0x0d) isLineEmpty = false;
      if (held > maxBytes) return false;
    }
    return true;
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      if (!count(chunk)) {
        done(new HotcellError('network-failed', `An answer has more than the ${maxBytes} bytes that are read of it.`));
        return;
      }
      const wait = onChunk?.(chunk);
      if (wait === undefined || !isStream) done(null, chunk);
      else void wait.then(() => done(null, chunk));
    },
  });
}
