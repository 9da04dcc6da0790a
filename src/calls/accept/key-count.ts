import type { Caller } from '../../callers/caller.ts';
import { Counts } from '../../collections/counts.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { IdempotencyTable } from '../../store/tables/calls/idempotency.ts';

/** How many keys are remembered at most; the last ones are for admins. */
export interface KeyBounds {
  readonly perCaller: number;
  readonly inAll: number;
  readonly reserve: number;
}

/** Counts the idempotency keys that are remembered, by caller: the rows are read once, at the first key. */
export class KeyCount {
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
    if ((this.#counts?.of(caller.id) ?? 0) > perCaller) throw refuse(`${perCaller} idempotency keys of one caller`);
    const most = caller.role === 'admin' ? inAll : inAll - reserve;
    if (this.#total > most) throw refuse(`${most} idempotency keys`);
  }

  /** Counts a key of a caller in (1) or out (-1). */
  note(callerId: string, by: 1 | -1): void {
    this.load().add(callerId, by);
    this.#total += by;
  }
}

function refuse(what: string): HotcellError {
  return new HotcellError('rate-limited', `${what} are remembered, which is as many as there may be.`, {
    facts: { retryAfterMs: 60_000 },
    fix: 'Call without a key, wait until older ones are forgotten, or lower idempotency.keepMs in the config.',
  });
}
