import type { Dispatcher } from 'undici';
import type { CapabilityResult } from '../../border/capability.ts';
import type { CapabilityUser } from '../../border/capability-user.ts';
import type { Redactor } from '../../secrets/secret-types.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Destination } from './destination.ts';
import { describeFailure, type FetchWait } from './failure.ts';
import { describePlace } from './network-check.ts';
import { type BodyPiece, type BodyReader, openBody } from './response-body.ts';
import type { ResponseStreams } from './response-streams.ts';

/** What reading responses works with. */
export interface ReadingParts {
  readonly streams: ResponseStreams;
  readonly budget: ByteBudget;
  /** The most of one body, in bytes. */
  readonly maxBytes: number;
  readonly redactor: Redactor | undefined;
}

/** How a response came about. */
export interface ResponseFacts {
  readonly destination: Destination;
  readonly method: string;
  readonly redirected: boolean;
  /** Whose memory budget it is. */
  readonly owner: string;
  readonly user: CapabilityUser;
  readonly signal: AbortSignal;
}

const KIB = 1024;
const smallBytes = 64 * KIB;
const largeBytes = 1024 * KIB;
/** The head of a response often comes a moment before its body: so long the rest of a small one is waited for. */
const graceMs = 25;
/** What an open body holds: the buffers of its socket, and those of its decoders. */
const plainBytes = 256 * KIB;
const codedBytes = 1024 * KIB;

/** Answers a response: whole when it is small and there, else its beginning and the stream by which the call reads on. */
export async function answerResponse(
  parts: ReadingParts,
  response: Dispatcher.ResponseData,
  facts: ResponseFacts,
): Promise<CapabilityResult> {
  const hasBody = facts.method !== 'HEAD' && response.statusCode !== 204 && response.statusCode !== 304;
  const coding = hasBody ? String(response.headers['content-encoding'] ?? '') : '';
  const { redactor } = parts;
  const filter = redactor === undefined || redactor.isIdle ? undefined : redactor.stream();
  const body = openBody(response.body, { coding, maxBytes: parts.maxBytes, filter });
  const { bytes, truncated, stream } = await readBeginning(parts, body, { ...facts, isCoded: coding !== '' });
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
      ...(stream === undefined ? {} : { stream }),
    },
    body: bytes,
  };
}

/** Answers the next piece of an open response: `{done, truncated}` and bytes. */
export async function readOn(
  parts: ReadingParts,
  { stream, fill = false }: { readonly stream: string; readonly fill?: boolean },
  { user, wait, signal }: { readonly user: CapabilityUser; readonly wait: FetchWait; readonly signal: AbortSignal },
): Promise<CapabilityResult> {
  return parts.streams.use(stream, user, async ({ body, destination, owner }) => {
    using account = parts.budget.open(owner);
    const onBytes = (bytes: number) => account.take(bytes);
    try {
      const piece = await body.read({ maxBytes: fill ? largeBytes : smallBytes, fill, onBytes, signal });
      if (piece.done) parts.streams.close(stream, user.executionId);
      return { payload: { done: piece.done, truncated: piece.truncated }, body: piece.bytes };
    } catch (error) {
      throw describeFailure(error, describePlace(destination), wait);
    }
  });
}

interface Beginning extends Omit<BodyPiece, 'done'> {
  readonly stream?: string;
}

async function readBeginning(
  parts: ReadingParts,
  body: BodyReader,
  facts: ResponseFacts & { readonly isCoded: boolean },
): Promise<Beginning> {
  const { user, owner, destination, signal } = facts;
  using held = parts.budget.open(owner);
  const options = { fill: true, signal, onBytes: (bytes: number) => held.take(bytes) };
  const first = await body.read({ ...options, maxBytes: smallBytes, graceMs });
  if (first.done) return first;
  if (!parts.streams.hasRoom(user.executionId)) {
    // A call that keeps many responses open gets the others whole, as far as the budget reaches.
    const rest = await body.read({ ...options, maxBytes: Number.POSITIVE_INFINITY });
    return { ...rest, bytes: Buffer.concat([first.bytes, rest.bytes]) };
  }
  const account = parts.budget.open(owner);
  try {
    account.take(facts.isCoded ? codedBytes : plainBytes);
  } catch (error) {
    body.close();
    throw error;
  }
  return { ...first, stream: parts.streams.keep({ body, destination, owner, account }, user) };
}
