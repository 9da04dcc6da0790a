import { createCellTurns } from '../../queues/cell-turns.ts';
import { type Candidacy, createFairQueue } from '../../queues/fair-queue.ts';
import { count, createRunnableSlots } from '../../queues/runnable-slots.ts';
import type { ActiveCall } from '../active-call.ts';

/** Decides when an accepted call starts: shared cells one at a time, then fair turns, then free slots. */
export interface Dispatcher {
  /** Takes a call in; it may start before this returns. */
  enter(call: ActiveCall): void;
  /** Puts a call that has its turn in its cell into the queue again, for another attempt. */
  enterAgain(call: ActiveCall): void;
  /** Takes a call out that has not started; false when it has. */
  withdraw(call: ActiveCall): boolean;
  /** A started call waits for the host, or can run again. */
  setWaiting(call: ActiveCall, isWaiting: boolean): void;
  /**
   * A started call waits for a call of its own: until `takeBackPlace`, which must follow, it does not count as running. What
   * wakes up may pass the bound of running calls, and so may its slot.
   */
  lendPlace(call: ActiveCall): void;
  takeBackPlace(call: ActiveCall): void;
  /** A started call is over in its engine. */
  leaveEngine(call: ActiveCall): void;
  /** The call is over: the next one may have its cell. */
  leaveCell(call: ActiveCall): void;
  pending(): number;
  pendingOf(callerId: string): number;
  running(): number;
}

/** A call that has been running for this long does not keep other plugins waiting for its slot. */
const longRunMs = 20;

/** Creates the dispatcher. `start` hands a call to its engine; it must not throw. */
export function createDispatcher(options: {
  readonly maxRunning: number;
  readonly slots: number;
  readonly start: (call: ActiveCall) => void;
  readonly now: () => number;
}): Dispatcher {
  const { maxRunning, start, now } = options;
  const queue = createFairQueue<ActiveCall>();
  const slots = createRunnableSlots<ActiveCall>(options.slots);
  const turns = createCellTurns<ActiveCall>();
  const pendingByCaller = new Map<string, number>();
  /** Started calls that wait for calls of their own, and for how many. */
  const lent = new Map<ActiveCall, number>();
  const runningByCaller = new Map<string, number>();
  /** Nobody fills the place for waiting calls alone. */
  const maxRunningOfCaller = maxRunning - Math.floor(maxRunning / 10);
  let pending = 0;
  let running = 0;
  let isPumping = false;
  let _longRunTimer: NodeJS.Timeout | undefined;

  function countPending(call: ActiveCall, by: number): void {
    pending += by;
    count(pendingByCaller, call.callerId, by);
  }

  function countRunning(call: ActiveCall, by: number): void {
    running += by;
    count(runningByCaller, call.callerId, by);
  }

  function judge(call: ActiveCall, judgeSlot: (call: ActiveCall) => Candidacy): Candidacy {
    return (runningByCaller.get(call.callerId) ?? 0) < maxRunningOfCaller ? judgeSlot(call) : 'no';
  }

  function push(call: ActiveCall): void {
    call.phase = 'queued';
    call.place = queue.push(call);
  }

  function begin(call: ActiveCall): void {
    call.place = undefined;
    call.phase = 'started';
    countPending(call, -1);
    countRunning(call, 1);
    slots.hold(call, now());
    start(call);
  }

  /** Starting a call can end another one at once, so the loop is entered only once. */
  function pump(): void {
    if (isPumping) return;
    isPumping = true;
    while (queue.size() > 0 && running < maxRunning && slots.hasFree()) {
      const call = queue.take((each) => judge(each, slots.judge));
      if (call === undefined) break;
      begin(call);
    }
    isPumping = false;
    if (queue.size() > 0 && running < maxRunning) _longRunTimer ??= setTimeout(letNewcomersIn, longRunMs).unref();
  }

  /** When every slot is held, whoever holds none comes in beside them, so that nobody starves. */
  function letNewcomersIn(): void {
    _longRunTimer = undefined;
    const longAgo = now() - longRunMs + 1;
    while (queue.size() > 0 && running < maxRunning) {
      const call = queue.take((each) => judge(each, (newcomer) => slots.judgeNewcomer(newcomer, longAgo)));
      if (call === undefined) break;
      begin(call);
    }
    pump();
  }

  return {
    enter(call) {
      countPending(call, 1);
      if (call.cellKey !== '' && !turns.enter(call.cellKey, call)) {
        call.phase = 'cell-wait';
        pump();
        return;
      }
      push(call);
      pump();
    },
    enterAgain(call) {
      countPending(call, 1);
      push(call);
      pump();
    },
    withdraw(call) {
      if (call.phase === 'cell-wait' ? !turns.remove(call) : call.place === undefined) return false;
      if (call.place !== undefined) queue.remove(call.place);
      call.place = undefined;
      countPending(call, -1);
      return true;
    },
    setWaiting(call, isWaiting) {
      if (call.phase !== 'started') return;
      if (!isWaiting) {
        slots.hold(call, now());
        return;
      }
      slots.release(call);
      pump();
    },
    lendPlace(call) {
      if (call.phase !== 'started') return;
      const lentFor = lent.get(call) ?? 0;
      lent.set(call, lentFor + 1);
      if (lentFor === 0) countRunning(call, -1);
    },
    takeBackPlace(call) {
      const lentFor = lent.get(call);
      if (lentFor === undefined) return;
      if (lentFor > 1) {
        lent.set(call, lentFor - 1);
        return;
      }
      lent.delete(call);
      countRunning(call, 1);
    },
    leaveEngine(call) {
      call.phase = 'ending';
      slots.release(call);
      // A call may end without waiting for the calls that it made.
      if (!lent.delete(call)) countRunning(call, -1);
      pump();
    },
    leaveCell(call) {
      if (call.cellKey === '') return;
      const next = turns.leave(call.cellKey);
      if (next === undefined) return;
      push(next);
      pump();
    },
    pending: () => pending,
    pendingOf: (callerId) => pendingByCaller.get(callerId) ?? 0,
    running: () => running,
  };
}
