import { createCellTurns } from '../../concurrency/cell-turns.ts';
import { type Candidacy, createFairQueue } from '../../concurrency/fair-queue.ts';
import { createPlaceCount, type FullBound, type Holder } from '../../concurrency/place-count.ts';
import { createRunnableSlots } from '../../concurrency/runnable-slots.ts';
import type { Config } from '../../config/config-types.ts';
import { shareQueue } from '../../config/quotas/quota.ts';
import type { ActiveCall } from '../active-call.ts';

/** A call that has been running for this long does not keep other plugins waiting for its slot. */
const longRunMs = 20;

/** Decides when an accepted call starts: shared cells one at a time, then fair turns, then free slots. */
export type Dispatcher = ReturnType<typeof createDispatcher>;

/** Creates the dispatcher. */
export function createDispatcher(options: {
  readonly queue: Config['queue'];
  readonly slots: number;
  readonly now: () => number;
}) {
  const { now } = options;
  const { maxRunning, maxPending, maxPendingPerCaller } = options.queue;
  const pending = createPlaceCount({ ...shareQueue(maxPending), perCaller: maxPendingPerCaller });
  const running = createPlaceCount(shareQueue(maxRunning));
  // Where the others have all that they may have, operators are found without a look at each of the others.
  const lines = { operators: createFairQueue<ActiveCall>(), others: createFairQueue<ActiveCall>() };
  const slots = createRunnableSlots<ActiveCall>(options.slots);
  const turns = createCellTurns<ActiveCall>();
  /** Started calls that wait for calls of their own, and for how many. */
  const lent = new Map<ActiveCall, number>();
  let areOperatorsNext = false;
  let isPumping = false;
  let _longRunTimer: NodeJS.Timeout | undefined;

  const lineOf = ({ isAdmin }: ActiveCall) => (isAdmin ? lines.operators : lines.others);

  /** Whether there is a call that the bound of running calls does not keep from beginning. */
  const hasCandidate = (): boolean =>
    (lines.operators.size() > 0 && running.hasRoom(true)) || (lines.others.size() > 0 && running.hasRoom(false));

  function judge(call: ActiveCall, judgeSlot: (call: ActiveCall) => Candidacy): Candidacy {
    const full = running.findFull(call);
    if (full === undefined) return judgeSlot(call);
    return full.bound === 'caller' ? 'no-caller' : 'no';
  }

  /** Operators and the others in turn; who comes only for want of a better one waits for both. */
  function take(judgeSlot: (call: ActiveCall) => Candidacy): ActiveCall | undefined {
    const judgeCall = (call: ActiveCall): Candidacy => judge(call, judgeSlot);
    if (lines.operators.size() === 0) return running.hasRoom(false) ? lines.others.take(judgeCall) : undefined;
    if (lines.others.size() === 0 || !running.hasRoom(false)) return lines.operators.take(judgeCall);
    areOperatorsNext = !areOperatorsNext;
    const inTurn = areOperatorsNext ? [lines.operators, lines.others] : [lines.others, lines.operators];
    const judgeStrictly = (call: ActiveCall): Candidacy => {
      const candidacy = judgeCall(call);
      return candidacy === 'fallback' ? 'no' : candidacy;
    };
    for (const judgeInTurn of [judgeStrictly, judgeCall]) {
      for (const line of inTurn) {
        const call = line.take(judgeInTurn);
        if (call !== undefined) return call;
      }
    }
    return undefined;
  }

  function push(call: ActiveCall): void {
    call.hasCell = call.cellKey !== '';
    call.phase = 'queued';
    call.place = lineOf(call).push(call);
  }

  function begin(call: ActiveCall): void {
    call.place = undefined;
    call.phase = 'started';
    call.pending?.leave();
    call.running = running.take(call);
    slots.hold(call, now());
    call.goOn();
  }

  /** Letting a call go on can bring another one in at once, so the loop is entered only once. */
  function pump(): void {
    if (isPumping) return;
    isPumping = true;
    while (slots.hasFree() && hasCandidate()) {
      const call = take(slots.judge);
      if (call === undefined) break;
      begin(call);
    }
    isPumping = false;
    if (hasCandidate()) _longRunTimer ??= setTimeout(letNewcomersIn, longRunMs).unref();
  }

  /** When every slot is held, whoever holds none comes in beside them, so that nobody starves. */
  function letNewcomersIn(): void {
    _longRunTimer = undefined;
    const longAgo = now() - longRunMs + 1;
    while (hasCandidate()) {
      const call = take((newcomer) => slots.judgeNewcomer(newcomer, longAgo));
      if (call === undefined) break;
      begin(call);
    }
    pump();
  }

  return {
    /** The bound of those that wait which keeps the holder from one more. */
    findFull: (holder: Holder): FullBound | undefined => pending.findFull(holder),
    /** Takes a call in, for each of its attempts: it may have started when this returns, else it is let go on when it starts. */
    enter(call: ActiveCall): void {
      call.pending = pending.take(call);
      if (call.cellKey === '' || call.hasCell || turns.enter(call.cellKey, call)) push(call);
      else call.phase = 'cell-wait';
      pump();
    },
    /** Takes a call out that has not started. */
    withdraw(call: ActiveCall): void {
      if (call.phase === 'cell-wait') turns.remove(call);
      if (call.place !== undefined) lineOf(call).remove(call.place);
      call.place = undefined;
      call.pending?.leave();
    },
    /** A started call waits for the host, or can run again. */
    setWaiting(call: ActiveCall, isWaiting: boolean): void {
      if (call.phase !== 'started') return;
      if (!isWaiting) {
        slots.hold(call, now());
        return;
      }
      slots.release(call);
      pump();
    },
    /**
     * A started call waits for a call of its own: until `takeBackPlace`, which must follow, it does not count as running. What
     * wakes up may pass the bound of running calls, and so may its slot.
     */
    lendPlace(call: ActiveCall): void {
      if (call.phase !== 'started') return;
      const lentFor = lent.get(call) ?? 0;
      lent.set(call, lentFor + 1);
      if (lentFor === 0) call.running?.leave();
    },
    takeBackPlace(call: ActiveCall): void {
      const lentFor = lent.get(call);
      if (lentFor === undefined) return;
      if (lentFor > 1) {
        lent.set(call, lentFor - 1);
        return;
      }
      lent.delete(call);
      call.running = running.take(call);
    },
    /** A started call is over in its engine. */
    leaveEngine(call: ActiveCall): void {
      call.phase = 'ending';
      slots.release(call);
      // A call may end without waiting for the calls that it made: its place was given back already.
      lent.delete(call);
      call.running?.leave();
      pump();
    },
    /** The call is over: the next one may have its cell. */
    leaveCell(call: ActiveCall): void {
      if (!call.hasCell) return;
      call.hasCell = false;
      const next = turns.leave(call.cellKey);
      if (next === undefined) return;
      push(next);
      pump();
    },
    pending: pending.size,
    running: running.size,
  };
}
