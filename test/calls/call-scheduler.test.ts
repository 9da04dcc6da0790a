import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { createCallScheduler, nextCronTime, type ScheduleTime } from '../../src/calls/call-scheduler.ts';
import type { CallAnswer, CallRequest } from '../../src/calls/call-types.ts';
import { quotas } from '../../src/config/quotas.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import type { ScheduleRow } from '../../src/store/tables/calls/schedules.ts';

const ann: Caller = { id: 'ann', role: 'caller' };
const bob: Caller = { id: 'bob', role: 'caller' };
const operator: Caller = { id: 'local', role: 'admin' };
const minuteMs = 60_000;

/** A book over a table in memory, with a clock that goes when it is told to. */
function openBook(rows = new Map<string, ScheduleRow>(), startMs = Date.parse('2026-11-22T10:00:00Z')) {
  let now = startMs;
  let waiting: { atMs: number; wake: () => void } | undefined;
  const callers = new Map([ann, bob, operator].map((caller) => [caller.id, caller]));
  const calls: CallRequest[] = [];
  const problems: string[] = [];
  let answer = async (request: CallRequest): Promise<CallAnswer> => {
    request.onAccepted?.('exe_1');
    return { executionId: 'exe_1', status: 'success', durationMs: 1 };
  };
  const book = createCallScheduler({
    table: { list: () => [...rows.values()], put: (row) => void rows.set(row.id, row), remove: (id = '') => rows.delete(id) },
    call: (request) => {
      calls.push(request);
      return answer(request);
    },
    current: (id) => callers.get(id),
    clock: {
      now: () => now,
      wait(ms, wake) {
        const mine = { atMs: now + ms, wake };
        waiting = mine;
        return () => {
          if (waiting === mine) waiting = undefined;
        };
      },
    },
    onProblem: ({ tool }, { code }) => void problems.push(`${tool} ${code}`),
    onFault: (error) => {
      throw error;
    },
  });
  const add = (time: ScheduleTime, caller = ann, tool = 'greet') =>
    book.create({ tool, arguments: { a: 1 }, session: 's', time }, caller);
  return {
    book,
    rows,
    calls,
    problems,
    callers,
    add,
    inMs: (ms: number): ScheduleTime => ({ atMs: now + ms }),
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    /** Lets the time go on, and wakes whoever waits for it. */
    async go(ms: number) {
      const until = now + ms;
      while (waiting !== undefined && waiting.atMs <= until) {
        const { atMs, wake } = waiting;
        waiting = undefined;
        now = atMs;
        wake();
        await new Promise(setImmediate);
      }
      now = until;
    },
  };
}

describe('createCallScheduler', () => {
  it('makes a call once at its time, with the rights that its caller has then', async () => {
    const { book, add, inMs, go, calls, callers, rows } = openBook();
    book.start();
    add(inMs(minuteMs));
    await go(minuteMs - 1);
    expect(calls).toEqual([]);
    callers.set('ann', { ...ann, tools: ['greet'] });
    await go(1);
    expect(calls).toMatchObject([
      { ref: 'greet', arguments: { a: 1 }, session: 's', caller: { id: 'ann', tools: ['greet'] }, isForModel: true },
    ]);
    expect(rows.size).toBe(0);
    await go(10 * minuteMs);
    expect(calls).toHaveLength(1);
  });

  it('makes a call again and again, one after the other, and makes up for nothing', async () => {
    const { book, add, go, calls, answerWith } = openBook();
    book.start();
    add({ everyMs: minuteMs });
    add({ cron: '0 * * * *' }, bob, 'hourly');
    await go(3 * minuteMs);
    expect(calls.map(({ ref }) => ref)).toEqual(['greet', 'greet', 'greet']);
    expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    const { promise, resolve } = Promise.withResolvers<void>();
    answerWith(async (request) => {
      request.onAccepted?.('exe_2');
      await promise;
      return { executionId: 'exe_2', status: 'success', durationMs: 1 };
    });
    await go(20 * minuteMs);
    expect(calls).toHaveLength(4);
    resolve();
    await new Promise(setImmediate);
    await go(37 * minuteMs);
    expect(calls.filter(({ ref }) => ref === 'hourly')).toHaveLength(1);
  });

  it('makes a call once that was missed, and no call twice that had begun', async () => {
    const before = openBook();
    before.book.start();
    before.add({ everyMs: minuteMs });
    before.add(before.inMs(minuteMs), bob, 'once');
    before.book.close();
    const after = openBook(before.rows, Date.parse('2026-11-22T12:00:00Z'));
    after.book.start();
    await after.go(0);
    expect(after.calls.map(({ ref }) => ref).sort()).toEqual(['greet', 'once']);
    // Killed before the call was accepted: the same key again.
    const killed = openBook();
    killed.book.start();
    killed.add(killed.inMs(1000));
    killed.answerWith(() => new Promise(() => {}));
    await killed.go(1000);
    const again = openBook(killed.rows, Date.parse('2026-11-22T11:00:00Z'));
    again.book.start();
    await again.go(0);
    expect(again.calls[0]?.idempotencyKey).toBe(killed.calls[0]?.idempotencyKey);
  });

  it('tells of a call that is refused, and forgets those of a key that is gone', async () => {
    const { book, add, go, inMs, calls, problems, callers, rows, answerWith } = openBook();
    book.start();
    add({ everyMs: minuteMs });
    add(inMs(minuteMs), bob, 'once');
    answerWith(async () => {
      throw new HotcellError('tool-unknown', 'It is gone.');
    });
    await go(minuteMs);
    expect(problems.sort()).toEqual(['greet tool-unknown', 'once tool-unknown']);
    expect(rows.size).toBe(1);
    callers.delete('ann');
    await go(minuteMs);
    expect(calls).toHaveLength(2);
    expect(problems).toContain('greet forbidden');
    expect(rows.size).toBe(0);
  });

  it('keeps so many of one caller, and leaves others theirs', () => {
    const { add, inMs, book } = openBook();
    for (let count = 0; count < quotas['schedules.kept'].perCaller; count++) add(inMs(minuteMs));
    expect(() => add(inMs(minuteMs))).toThrow(expect.objectContaining({ code: 'quota-exceeded' }));
    add(inMs(minuteMs), bob);
    const [first] = book.list(ann);
    book.cancel(first?.id ?? '', ann);
    add(inMs(minuteMs));
  });

  it('shows and cancels a caller its own, an admin all', () => {
    const { add, inMs, book } = openBook();
    const { id } = add(inMs(minuteMs));
    expect(book.list(bob)).toEqual([]);
    expect(() => book.cancel(id, bob)).toThrow(expect.objectContaining({ code: 'not-found' }));
    expect(book.list(operator).map((row) => row.id)).toEqual([id]);
    book.cancel(id, operator);
    expect(book.list(ann)).toEqual([]);
  });

  it('refuses times that do not come, nobody in particular, and arguments that are too long', () => {
    const { add, inMs, book } = openBook();
    const refused = expect.objectContaining({ code: 'arguments-invalid' });
    for (const time of [
      inMs(0),
      inMs(-1),
      inMs(367 * 24 * 3_600_000),
      { everyMs: 1000 },
      { cron: '0 0 30 2 *' },
      { cron: 'x' },
    ]) {
      expect(() => add(time)).toThrow(refused);
    }
    expect(() => add(inMs(1000), { ...ann, isAnonymous: true })).toThrow(expect.objectContaining({ code: 'forbidden' }));
    const long = { tool: 'greet', arguments: 'x'.repeat(70_000), session: 's', time: inMs(1000) };
    expect(() => book.create(long, ann)).toThrow(expect.objectContaining({ code: 'payload-too-large' }));
  });
});

const next = (text: string, after: string): string | undefined => {
  const at = nextCronTime(text, Date.parse(after));
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe('nextCronTime', () => {
  it.each([
    ['* * * * *', '2026-11-22T10:00:00Z', '2026-11-22T10:01:00.000Z'],
    ['* * * * *', '2026-11-22T10:00:59.999Z', '2026-11-22T10:01:00.000Z'],
    ['*/15 * * * *', '2026-11-22T10:46:00Z', '2026-11-22T11:00:00.000Z'],
    ['0 8 * * 1-5', '2026-11-21T09:00:00Z', '2026-11-23T08:00:00.000Z'],
    ['30 6 1,15 * *', '2026-11-22T00:00:00Z', '2026-12-01T06:30:00.000Z'],
    ['0 0 29 2 *', '2026-11-22T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0 0 * * 7', '2026-11-22T00:00:00Z', '2026-11-29T00:00:00.000Z'],
    ['5-59/20 23 31 12 *', '2026-11-22T00:00:00Z', '2026-12-31T23:05:00.000Z'],
    ['0 0 13 * 5', '2026-11-22T00:00:00Z', '2026-11-27T00:00:00.000Z'],
    ['0 0 13 * MON', '2026-12-08T00:00:00Z', '2026-12-13T00:00:00.000Z'],
    ['@daily', '2026-11-22T00:00:00Z', '2026-11-23T00:00:00.000Z'],
  ])('of %s after %s is %s', (text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });

  it('gives up on a day that never comes', () => {
    expect(next('0 0 30 2 *', '2026-11-22T00:00:00Z')).toBeUndefined();
  });
});

describe('what is no cron expression', () => {
  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    'a * * * *',
    '1- * * * *',
    '@reboot',
    '2026-12-01T00:00:00Z',
    '*-5 * * * *',
    '-1 * * * *',
  ])('%j', (text) => {
    expect(nextCronTime(text, 0)).toBeUndefined();
  });
});
