import { createHash, randomUUID } from 'node:crypto';
import type { Caller } from '../callers/caller.ts';
import { isObject, readJson } from '../config/json-object.ts';
import type { ModelFailure } from '../conversation/answer.ts';
import type { Message } from '../conversation/conversation.ts';
import type { LoopView } from '../loop/loop.ts';
import type { KeptAnswerTable } from '../store/tables/kept-answers.ts';
import { canonicalJson } from '../tools/canonical-json.ts';
import { isMessages } from './responses.ts';

/** What a request is known by when it comes again. */
export interface RequestIdentity {
  /** The client's own key; without one the same request within the lease counts as the same. */
  readonly key: string | undefined;
  readonly hash: string;
}

/** A request that runs tools, as it is known. */
export interface FencedRequest {
  readonly loopId: string;
  /** The id of its answer. */
  readonly answerId: string;
  /** What its tools did in an earlier try, after which the model failed. */
  readonly before: readonly Message[];
}

/** What to do with a request that runs tools. */
export type FenceAnswer =
  | ({ readonly kind: 'run' } & FencedRequest)
  /** It came before: its loop goes on, or is over, and is told again. */
  | ({ readonly kind: 'follow' } & FencedRequest)
  | { readonly kind: 'refuse'; readonly failure: ModelFailure };

/** Lets no request run its tools twice. */
export type RequestFence = ReturnType<typeof createRequestFence>;

/** For so long a request without a key of its own counts as a retry of the same one before. */
const leaseMs = 120_000;

/** Creates the fence. `findLoop` answers undefined for one that is not known any more. */
export function createRequestFence(parts: {
  readonly table: KeptAnswerTable;
  readonly findLoop: (id: string, caller: Caller) => LoopView | undefined;
  readonly now: () => number;
}) {
  const { table, findLoop, now } = parts;
  const attended = new Map<string, AbortSignal>();

  function write(caller: Caller, identity: RequestIdentity, row: KnownRequest): void {
    table.put({ caller: caller.id, key: rowKeyOf(identity), value: JSON.stringify(row), atMs: now() });
  }

  function begin(
    caller: Caller,
    identity: RequestIdentity,
    before: readonly Message[] = [],
    answerId = newAnswerId(),
  ): FenceAnswer {
    const request = { loopId: `loop_${randomUUID()}`, answerId, before };
    if (caller.isAnonymous !== true) write(caller, identity, { ...request, hash: identity.hash, hasRun: before.length > 0 });
    return { kind: 'run', ...request };
  }

  return {
    enter(caller: Caller, identity: RequestIdentity): FenceAnswer {
      const row = caller.isAnonymous === true ? undefined : table.get(caller.id, rowKeyOf(identity));
      const known = readKnown(row?.value);
      if (row === undefined || known === undefined) return begin(caller, identity);
      if (known.hash !== identity.hash) return refuse(409, 'conflict', 'idempotency_key_reused', otherRequest);
      const { loopId, answerId, before, hasRun } = known;
      if (attended.has(loopId)) return refuse(409, 'conflict', 'request_in_progress', inProgress, 1000);
      const view = findLoop(loopId, caller);
      const leftMs = leaseMs - (now() - (view?.endedAtMs ?? row.atMs));
      if (view === undefined) {
        // A loop that has run nothing is not kept.
        if (!hasRun || leftMs <= 0) return begin(caller, identity);
        return refuse(500, 'server-error', 'request_outcome_unknown', unknown, leftMs);
      }
      if (view.state === 'ended' && leftMs <= 0 && identity.key === undefined) return begin(caller, identity);
      // The tools have run, and then the model failed: what they answered counts, and the model is asked again.
      if (view.end?.reason === 'model-failed') return begin(caller, identity, [...before, ...view.end.messages], answerId);
      return { kind: 'follow', loopId, answerId, before };
    },
    /** Somebody reads the answer; until the returned function is called or the signal aborts nobody else does. */
    attend(loopId: string, signal: AbortSignal): () => void {
      attended.set(loopId, signal);
      const release = (): void => {
        signal.removeEventListener('abort', release);
        if (attended.get(loopId) === signal) attended.delete(loopId);
      };
      signal.addEventListener('abort', release, { once: true });
      return release;
    },
    /** A tool of it was run. */
    noteRun(caller: Caller, identity: RequestIdentity): void {
      const known = readKnown(table.get(caller.id, rowKeyOf(identity))?.value);
      if (known !== undefined && !known.hasRun) write(caller, identity, { ...known, hasRun: true });
    },
    /** No tool was run: the same request may be made again. */
    forget: (caller: Caller, identity: RequestIdentity): void => void table.remove(caller.id, rowKeyOf(identity)),
  };
}

/** What a request is, apart from how its answer is sent. */
export function identifyRequest(endpoint: string, body: unknown, key: unknown): RequestIdentity {
  const hash = createHash('sha256').update(endpoint).update(canonicalJson(body)).digest('base64url');
  return { key: typeof key === 'string' && key !== '' ? key.slice(0, maxKeyChars) : undefined, hash };
}

const maxKeyChars = 256;
const otherRequest = 'The idempotency key was used for another request.';
const inProgress = 'The same request is being answered on another connection.';
const unknown =
  'The same request was begun, and it is not known whether its tools ran. Look at the executions before you repeat it.';

function refuse(
  status: number,
  kind: ModelFailure['kind'],
  code: string,
  message: string,
  retryAfterMs?: number,
): Extract<FenceAnswer, { kind: 'refuse' }> {
  return { kind: 'refuse', failure: { kind, status, code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) } };
}

function rowKeyOf({ key, hash }: RequestIdentity): string {
  return key === undefined ? `request:${hash}` : `request-key:${key}`;
}

interface KnownRequest extends FencedRequest {
  readonly hash: string;
  readonly hasRun: boolean;
}

function readKnown(text: string | undefined): KnownRequest | undefined {
  const value = readJson(text);
  if (!isObject(value)) return undefined;
  const { hash, loopId, answerId, before, hasRun } = value;
  const isKnown = typeof hash === 'string' && typeof loopId === 'string' && typeof answerId === 'string' && isMessages(before);
  return isKnown ? { hash, loopId, answerId, before, hasRun: hasRun === true } : undefined;
}

/** An id of an answer that nobody guesses. */
export function newAnswerId(): string {
  return `resp_${randomUUID().replaceAll('-', '')}`;
}
