import { createHash } from 'node:crypto';
import type { Caller } from '../../callers/caller.ts';
import { Counts } from '../../collections/counts.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Store } from '../../store/store-types.ts';
import type { ExecutionRow } from '../../store/tables/calls/executions.ts';
import type { IdempotencyTable } from '../../store/tables/calls/idempotency.ts';
import { canonicalJson } from '../../tools/canonical-json.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { CallAnswer } from '../call-types.ts';
import { readExecution } from '../record/execution-reader.ts';

/** One use of an idempotency key. Keys belong to a caller and a tool, whatever its version. */
export interface KeyUse {
  readonly caller: Pick<Caller, 'id' | 'role' | 'isAnonymous'>;
  readonly tool: string;
  readonly key: string;
  readonly arguments: unknown;
  readonly executionId: string;
  /**
   * For keys that nobody chose: only a call that still runs, or that succeeded at most so long ago, counts as earlier; else
   * the key is claimed anew.
   */
  readonly withinMs?: number;
}

const maxKeyLength = 255;
const pruneEvery = 500;
/** A key that nobody chose is kept for this much longer than it is looked at: its call may still run. */
const effectGraceMs = 3_600_000;

/** Makes sure that a key is executed once. */
export type Idempotency = ReturnType<typeof createIdempotency>;

/** Creates the keeper of idempotency keys; they are forgotten after `keepMs`. */
export function createIdempotency(parts: {
  readonly store: Pick<Store, 'idempotency' | 'executions'>;
  readonly keepMs: number;
  readonly now: () => number;
  readonly bounds?: KeyBounds;
  /** The open question to a person that an execution of this caller waits for. */
  readonly findQuestion?: (executionId: string, caller: string) => string | undefined;
}) {
  const { store, keepMs, now, bounds = quotas['disk.idempotencyKeys'], findQuestion = () => undefined } = parts;
  const keys = new KeyCount(store.idempotency, bounds);
  let claimsSincePrune = pruneEvery;

  function release({ caller: { id }, tool, key }: Pick<KeyUse, 'caller' | 'tool' | 'key'>): void {
    if (store.idempotency.release(id, tool, key)) keys.note(id, -1);
  }

  function checkCount(use: KeyUse): void {
    try {
      keys.check(use.caller);
    } catch (error) {
      release(use);
      throw error;
    }
  }

  return {
    /**
     * Claims the key for this execution and returns undefined, or returns the answer of the execution that had it before.
     * Throws `idempotency-in-progress`, `idempotency-mismatch` (other arguments), and `conflict` when the key was executed
     * but its record is gone: executing again could do twice what was to be done once. Throws `rate-limited` when too many keys
     * are remembered. A caller without a token has no second call, so its keys are not remembered.
     */
    claim(use: KeyUse): CallAnswer | undefined {
      if (use.key === '' || use.key.length > maxKeyLength) {
        const message = `An idempotency key has 1 to ${maxKeyLength} characters; this one has ${use.key.length}.`;
        throw new HotcellError('body-invalid', message, { fix: 'Send a short unique key, such as a UUID.' });
      }
      if (use.caller.isAnonymous) return undefined;
      const atMs = now();
      keys.load();
      claimsSincePrune++;
      if (claimsSincePrune >= pruneEvery) {
        claimsSincePrune = 0;
        for (const caller of store.idempotency.prune(atMs - keepMs)) keys.note(caller, -1);
      }
      const { tool, key, executionId, withinMs } = use;
      const caller = use.caller.id;
      const argumentsHash = hashArguments(use.arguments);
      const keptMs = withinMs === undefined ? keepMs : Math.min(keepMs, withinMs + effectGraceMs);
      const wanted = { caller, tool, key, argumentsHash, executionId, atMs: atMs - keepMs + keptMs };
      const claim = store.idempotency.claim(wanted);
      if (claim.claimed) {
        keys.note(caller, 1);
        checkCount(use);
        return undefined;
      }
      const row = store.executions.get(claim.executionId);
      if (withinMs !== undefined && !isWithin(row, atMs - withinMs)) {
        store.idempotency.release(caller, tool, key);
        store.idempotency.claim(wanted);
        return undefined;
      }
      return answerEarlier(key, claim.argumentsHash === argumentsHash, row, findQuestion);
    },
    /** Gives a key back whose execution was refused before it began. */
    release,
  };
}

function isWithin(row: ExecutionRow | undefined, sinceMs: number): boolean {
  if (row?.status === 'success') return (row.endedAtMs ?? 0) >= sinceMs;
  return row?.status === 'pending' || row?.status === 'running';
}

function hashArguments(value: unknown): string {
  try {
    return createHash('sha256').update(canonicalJson(value)).digest('base64url');
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HotcellError('arguments-invalid', 'The arguments are nested too deeply to be compared under an idempotency key.');
  }
}

function answerEarlier(
  key: string,
  hasSameArguments: boolean,
  row: ExecutionRow | undefined,
  findQuestion: (executionId: string, caller: string) => string | undefined,
): CallAnswer {
  if (!hasSameArguments) {
    throw new HotcellError('idempotency-mismatch', `The idempotency key "${key}" was used with other arguments before.`);
  }
  if (row === undefined) {
    throw new HotcellError('conflict', `The idempotency key "${key}" was used before, but its record was not kept.`, {
      fix: 'Check what the earlier call did, then call with a new key.',
    });
  }
  if (row.status === 'pending' || row.status === 'running') {
    const { id: executionId, status } = row;
    const approval = findQuestion(executionId, row.caller);
    const waits = approval === undefined ? `is still ${status}` : `waits for a person to answer ${approval}`;
    const message = `The call with the idempotency key "${key}" ${waits}: ${executionId}.`;
    throw new HotcellError('idempotency-in-progress', message, {
      facts: { executionId, ...(approval !== undefined && { approval }) },
      fix: `Wait for its end: hotcell executions show ${executionId} --wait`,
    });
  }
  const { id: executionId, output, error, cut, warnings, durationMs = 0 } = readExecution(row);
  if (cut?.output !== undefined) {
    const message = `The same call was made a moment ago as ${executionId}, and its output of ${cut.output} bytes was not kept whole.`;
    throw new HotcellError('conflict', message, {
      facts: { executionId },
      fix: 'Send an idempotency key with calls whose long output is needed again.',
    });
  }
  const told = error?.code === 'interrupted' ? { ...error, fix: 'Check what the call did, then use a new key.' } : error;
  return {
    executionId,
    status: row.status,
    ...(output !== undefined && { output }),
    ...(told !== undefined && { error: told }),
    ...(warnings !== undefined && { warnings }),
    durationMs,
    replayed: true,
  };
}

/**
 * The idempotency key of a call of a tool marked isSideEffect that came without one: a model that says the same thing
 * twice does it once. Null for other tools, and for arguments that are nested too deeply to be compared.
 */
export function sideEffectKeyOf(
  { manifest }: Pick<ToolEntry, 'manifest'>,
  call: { readonly session: string; readonly arguments: unknown },
): string | null {
  if (!manifest.flags.isSideEffect) return null;
  try {
    const text = canonicalJson([call.session, call.arguments]);
    return `effect:${createHash('sha256').update(text).digest('base64url')}`;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** How many keys are remembered at most; the last ones are for admins. */
interface KeyBounds {
  readonly perCaller: number;
  readonly inAll: number;
  readonly reserve: number;
}

/** Counts the idempotency keys that are remembered, by caller: the rows are read once, at the first key. */
class KeyCount {
  readonly #table: Pick<IdempotencyTable, 'countByCaller'>;
  readonly #bounds: KeyBounds;
  #counts: Counts | undefined;
  #total = 0;

  constructor(table: Pick<IdempotencyTable, 'countByCaller'>, bounds: KeyBounds) {
    this.#table = table;
    this.#bounds = bounds;
  }

  /** Reads what is there, before anything is counted. */
  load(): Counts {
    if (this.#counts) return this.#counts;
    this.#counts = new Counts(this.#table.countByCaller());
    for (const count of this.#counts.values()) this.#total += count;
    return this.#counts;
  }

  /** Throws `rate-limited` when the keys that are remembered, the newest one counted, are too many. */
  check(caller: Pick<Caller, 'id' | 'role'>): void {
    const { perCaller, inAll, reserve } = this.#bounds;
    if ((this.#counts?.of(caller.id) ?? 0) > perCaller) throw refuseCount(`${perCaller} idempotency keys of one caller`);
    const most = caller.role === 'admin' ? inAll : inAll - reserve;
    if (this.#total > most) throw refuseCount(`${most} idempotency keys`);
  }

  /** Counts a key of a caller in (1) or out (-1). */
  note(callerId: string, by: 1 | -1): void {
    this.load().add(callerId, by);
    this.#total += by;
  }
}

function refuseCount(what: string): HotcellError {
  return new HotcellError('rate-limited', `${what} are remembered, which is as many as there may be.`, {
    facts: { retryAfterMs: 60_000 },
    fix: 'Call without a key, wait until older ones are forgotten, or lower idempotency.keepMs in the config.',
  });
}
