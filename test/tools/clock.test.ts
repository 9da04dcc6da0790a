import { afterEach, describe, expect, it } from 'vitest';
import { ann, type CallingHouse, openHouse } from './calling-house.ts';

const HOUR_MS = 3_600_000;
const readClock = Date.now;

let house: CallingHouse;
afterEach(async () => {
  Date.now = readClock;
  await house.close();
});

describe.each([
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
])('a clock that is set %s', (_way, byMs) => {
  it('ends no call that waits, nor one that waits for its turn, and lengthens none', async () => {
    const gate = Promise.withResolvers<void>();
    house = await openHouse({ queue: { maxRunning: 2 }, answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })) });
    await house.publish('waits', '{ handler: async (args, context) => { await context.kv.get("gate"); return 1; } }');
    const call = (timeoutMs?: number) =>
      house.caller.call({ ref: 'waits', arguments: {}, caller: ann, ...(timeoutMs !== undefined && { timeoutMs }) });
    const waiting = [call(), call()];
    await expect.poll(() => house.caller.load().running, { timeout: 20_000 }).toBe(2);
    const queued = call();
    const short = call(300);
    Date.now = () => readClock() + byMs;
    expect((await short).error?.code).toBe('time-exceeded');
    gate.resolve();
    expect((await Promise.all([...waiting, queued])).map(({ status }) => status)).toEqual(['success', 'success', 'success']);
  }, 60_000);

  it('leaves a call its own time in its engine', async () => {
    house = await openHouse({ answer: () => new Promise(() => {}) });
    await house.publish('waits', '{ handler: async (args, context) => { await context.kv.get("gate"); return 1; } }');
    const ended = house.caller.call({ ref: 'waits', arguments: {}, caller: ann, timeoutMs: 700 });
    await expect.poll(() => house.caller.load().running, { timeout: 20_000 }).toBe(1);
    Date.now = () => readClock() + byMs;
    expect((await ended).error?.code).toBe('time-exceeded');
  }, 60_000);

  it('neither fills nor empties the rate of a key', async () => {
    house = await openHouse({});
    await house.publish('quick', '{ handler: () => 1 }');
    const limited = { ...ann, ratePerMinute: 1 };
    const call = () => house.caller.call({ ref: 'quick', arguments: {}, caller: limited });
    expect((await call()).status).toBe('success');
    Date.now = () => readClock() + byMs;
    await expect(call()).rejects.toMatchObject({ code: 'rate-limited' });
  }, 60_000);
});
