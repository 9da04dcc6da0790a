import { randomUUID } from 'node:crypto';
import { Cron } from 'croner';
import type { Caller } from '../callers/caller.ts';
import { createPlaceCount, type HeldPlace } from '../concurrency/place-count.ts';
import { quotas } from '../config/quotas.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { ScheduleRow, ScheduleTable } from '../store/tables/calls/schedules.ts';
import type { ToolCaller } from './call-types.ts';

/** When a call is to be made: once, or again and again. */
export type ScheduleTime =
  | { readonly atMs: number }
  | { readonly everyMs: number }
  /** Five fields, UTC. */
  | { readonly cron: string };

/** A call that is to be made later. */
export interface WantedSchedule {
  readonly tool: string;
  readonly arguments: unknown;
  readonly session: string;
  readonly time: ScheduleTime;
}

/** What the scheduler is made of. */
export interface ScheduleParts {
  readonly table: ScheduleTable;
  readonly call: ToolCaller['call'];
  /** Who has this id, with the rules of now. */
  readonly current: (callerId: string) => Caller | undefined;
  readonly clock: ScheduleClock;
  /** Told of a call that was not made, and of a schedule that ended with it. Must not throw. */
  readonly onProblem: (row: ScheduleRow, error: HotcellError) => void;
  readonly onFault: (error: unknown) => void;
}

/** The time, and something that wakes up. */
export interface ScheduleClock {
  readonly now: () => number;
  /** Calls `wake` after so many ms; returns what takes it back. */
  readonly wait: (ms: number, wake: () => void) => () => void;
}

/** Timers of Node know no longer ones. */
const maxWaitMs = 24 * 3_600_000;
const minEveryMs = 60_000;
const maxAheadMs = 366 * 24 * 3_600_000;
const maxArgumentChars = 65_536;
const { perCaller, perPlugin, inAll, reserve } = quotas['schedules.kept'];

/** Calls that are made later, each with the rights that its caller has then. */
export type CallScheduler = ReturnType<typeof createCallScheduler>;

/** Opens the schedules that are kept. */
export function createCallScheduler(parts: ScheduleParts) {
  const { table, clock } = parts;
  const places = createPlaceCount({ perCaller, perPlugin, inAll, reserve });
  const kept = new Map<string, { readonly row: ScheduleRow; readonly place: HeldPlace }>();
  const running = new Set<string>();
  let isOn = false;
  let stopWaiting = (): void => {};
  for (const row of table.list()) keep(row, false);

  function keep(row: ScheduleRow, isAdmin: boolean): void {
    const place = kept.get(row.id)?.place ?? places.take({ callerId: row.caller, unitPath: '', isAdmin });
    kept.set(row.id, { row, place });
  }

  function drop(id: string): void {
    kept.get(id)?.place.leave();
    kept.delete(id);
    table.remove(id);
  }

  /** Sleeps until the next one is due. */
  function wait(): void {
    stopWaiting();
    if (!isOn) return;
    const next = [...kept.values()].reduce(
      (least, { row }) => (running.has(row.id) ? least : Math.min(least, row.nextAtMs)),
      Number.POSITIVE_INFINITY,
    );
    if (next === Number.POSITIVE_INFINITY) return;
    stopWaiting = clock.wait(Math.min(maxWaitMs, Math.max(0, next - clock.now())), wake);
  }

  function wake(): void {
    const now = clock.now();
    for (const { row } of [...kept.values()]) {
      if (row.nextAtMs > now || running.has(row.id)) continue;
      running.add(row.id);
      void run(row)
        .catch(parts.onFault)
        .finally(() => {
          running.delete(row.id);
          wait();
        });
    }
    wait();
  }

  async function run(row: ScheduleRow): Promise<void> {
    const { id, tool, caller: callerId, session, nextAtMs } = row;
    const caller = parts.current(callerId);
    const again = nextTime(JSON.parse(row.timeJson), clock.now());
    const goOn = (): void => {
      if (kept.get(id)?.row !== row) return;
      if (again === undefined) {
        drop(id);
        return;
      }
      table.put({ ...row, nextAtMs: again });
      keep({ ...row, nextAtMs: again }, false);
    };
    if (caller === undefined) {
      drop(id);
      return parts.onProblem(row, new HotcellError('forbidden', `The key that scheduled "${tool}" is gone; so is its schedule.`));
    }
    try {
      await parts.call({
        ref: tool,
        arguments: JSON.parse(row.argumentsJson),
        caller,
        session,
        // What is for people alone is called by people.
        isForModel: true,
        // Until it is accepted the schedule stays as it is; a call that was, and whose daemon was killed then, is not made twice.
        idempotencyKey: `schedule-${id}-${nextAtMs}`,
        onAccepted: goOn,
      });
    } catch (error) {
      if (!(error instanceof HotcellError)) throw error;
      parts.onProblem(row, error);
    } finally {
      goOn();
    }
  }

  return {
    /** Throws `arguments-invalid` for a time that does not come, `forbidden` for nobody in particular, `quota-exceeded`. */
    create({ tool, arguments: args, session, time }: WantedSchedule, caller: Caller): ScheduleRow {
      if (caller.isAnonymous === true) {
        throw new HotcellError('forbidden', 'Calls for later need a key: nobody knows who you are by then.');
      }
      const argumentsJson = JSON.stringify(args ?? {});
      if (argumentsJson.length > maxArgumentChars) {
        throw new HotcellError('payload-too-large', `Arguments for later have at most ${maxArgumentChars} characters.`);
      }
      const nextAtMs = firstTime(time, clock.now());
      const isAdmin = caller.role === 'admin';
      const full = places.findFull({ callerId: caller.id, unitPath: '', isAdmin });
      if (full !== undefined) {
        throw new HotcellError('quota-exceeded', `${full.max} schedules are kept, which is as many as there may be.`, {
          fix: 'Cancel one: hotcell schedule list, hotcell schedule cancel ID.',
        });
      }
      const row = {
        id: `sch_${randomUUID()}`,
        caller: caller.id,
        session,
        tool,
        argumentsJson,
        timeJson: JSON.stringify(time),
        nextAtMs,
        madeAtMs: clock.now(),
      };
      table.put(row);
      keep(row, isAdmin);
      wait();
      return row;
    },
    /** The schedules of a caller, for an admin all; the next one first. */
    list: (caller: Caller): readonly ScheduleRow[] =>
      [...kept.values()]
        .map(({ row }) => row)
        .filter((row) => caller.role === 'admin' || row.caller === caller.id)
        .sort((a, b) => a.nextAtMs - b.nextAtMs || (a.id < b.id ? -1 : 1)),
    /** Throws `not-found`, also for somebody else's. */
    cancel(id: string, caller: Caller): void {
      const row = kept.get(id)?.row;
      if (row === undefined || (caller.role !== 'admin' && row.caller !== caller.id)) {
        throw new HotcellError('not-found', `There is no schedule "${id.slice(0, 64)}".`, { fix: 'See hotcell schedule list.' });
      }
      drop(id);
      wait();
    },
    /** From now on calls are made; those whose time came while nobody could make them are made once, at once. */
    start(): void {
      isOn = true;
      wait();
    },
    close(): void {
      isOn = false;
      stopWaiting();
    },
  };
}

/** When it happens for the first time. Throws `arguments-invalid`. */
function firstTime(time: ScheduleTime, nowMs: number): number {
  if ('everyMs' in time && time.everyMs < minEveryMs) {
    throw refuseTime(`every ${time.everyMs / 1000} seconds`, `Again and again is at most every ${minEveryMs / 1000} seconds.`);
  }
  const first = 'atMs' in time ? time.atMs : nextTime(time, nowMs);
  if (first === undefined)
    throw refuseTime(
      'cron' in time ? time.cron : 'no time',
      'That never comes. Say minute, hour, day, month and weekday, in UTC.',
    );
  if (first <= nowMs || first > nowMs + maxAheadMs) {
    throw refuseTime(new Date(first).toISOString(), 'A time lies ahead, by 366 days at most.');
  }
  return first;
}

/** When it happens again; undefined where it does not. What was missed is not made up for. */
function nextTime(time: ScheduleTime, nowMs: number): number | undefined {
  if ('atMs' in time) return undefined;
  if ('everyMs' in time) return nowMs + time.everyMs;
  return nextCronTime(time.cron, nowMs);
}

function refuseTime(said: string, rule: string): HotcellError {
  return new HotcellError('arguments-invalid', `It cannot be scheduled for ${said.slice(0, 100)}. ${rule}`);
}

const cronNames = /^@(?:yearly|annually|monthly|weekly|daily|hourly)$/;

/**
 * The first time after `afterMs` that a cron expression means: minute, hour, day of the month, month and weekday of UTC, where a day
 * that fits one of two restricted fields is enough; or `@daily` and the like. Undefined for what is none, and where no time comes.
 */
export function nextCronTime(text: string, afterMs: number): number | undefined {
  const words = text.trim().split(/\s+/);
  // Croner takes a date, too.
  if (words.length !== 5 && !cronNames.test(text)) return undefined;
  try {
    const cron = new Cron(text, { timezone: 'UTC', mode: '5-part', paused: true });
    return cron.nextRun(new Date(afterMs))?.getTime();
  } catch {
    return undefined;
  }
}
