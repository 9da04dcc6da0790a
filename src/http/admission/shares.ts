import type { Caller } from '../../callers/caller.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { createUnreadAnswers, type UnreadAnswers } from '../streams/unread-answers.ts';

/** What callers hold of one thing, so that nobody takes all of it. */
export interface Shares {
  /** Counts a part in; the returned function counts it out, once. Throws `rate-limited` at the bound of the caller or of all. */
  take(caller: Caller, amount?: number): () => void;
}

/** The numbers of a row of the table of quotas that every share needs. */
interface ShareBudget {
  readonly holds: string;
  readonly perCaller: number;
  readonly inAll: number;
  readonly reserve: number;
}

/** Makes the shares of one row: the last `reserve` of all is for admins alone, and nobody has more than `perCaller`. */
export function createShares({ holds, perCaller, inAll, reserve }: ShareBudget): Shares {
  const heldByCaller = new Map<string, number>();
  let held = 0;

  function add(key: string, amount: number): void {
    held += amount;
    const ofCaller = (heldByCaller.get(key) ?? 0) + amount;
    if (ofCaller === 0) heldByCaller.delete(key);
    else heldByCaller.set(key, ofCaller);
  }

  return {
    take(caller, amount = 1) {
      const key = countedAs(caller.id);
      if ((heldByCaller.get(key) ?? 0) + amount > perCaller) {
        throw refuse(`A caller may hold ${perCaller} of these at once: ${holds}.`);
      }
      if (held + amount > (caller.role === 'admin' ? inAll : inAll - reserve)) {
        throw refuse(`All callers together may hold ${inAll} of these at once, ${reserve} of them kept for admins: ${holds}.`);
      }
      add(key, amount);
      let isHeld = true;
      return () => {
        if (isHeld) add(key, -amount);
        isHeld = false;
      };
    },
  };
}

/** Everything of the doors that a caller can hold. */
export interface DoorShares {
  readonly connections: Shares;
  readonly requests: Shares;
  /** Bytes of requests that came and are not answered yet. */
  readonly bodies: Shares;
  readonly unread: UnreadAnswers;
  readonly streams: Shares;
  readonly sockets: Shares;
  readonly subscriptions: Shares;
  readonly tickets: Shares;
}

/** Makes the shares of the doors as the table of quotas has them; `connections` as this machine can have them. */
export function createDoorShares(connections: ShareBudget): DoorShares {
  return {
    connections: createShares(connections),
    requests: createShares(quotas['door.requests']),
    bodies: createShares(quotas['door.bodies']),
    unread: createUnreadAnswers(),
    streams: createShares(quotas['door.streams']),
    sockets: createShares(quotas['door.sockets']),
    subscriptions: createShares(quotas['door.subscriptions']),
    tickets: createShares(quotas['door.tickets']),
  };
}

function refuse(message: string): HotcellError {
  return new HotcellError('rate-limited', message, {
    facts: { retryAfterMs: 1000 },
    fix: 'End some of them, or wait as long as Retry-After says.',
  });
}
