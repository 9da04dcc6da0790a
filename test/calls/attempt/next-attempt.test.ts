import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunEscalation } from '../../../src/calls/call-parts.ts';
import type { Engine } from '../../../src/engines/engine.ts';
import { denoTraits } from '../../../src/engines/process/deno/deno-engine.ts';
import { quickJsTraits } from '../../../src/engines/quickjs/engine.ts';
import { ann, type CallingHouse, openHouse, startEngine, waitForEvent } from '../../tools/calling-house.ts';

let engine: Engine;
let closeEngine: () => Promise<void>;
let house: CallingHouse;
/** Stands for the time that the making of code takes; a test puts its own there. */
let build: RunEscalation['build'];
let isAsked: PromiseWithResolvers<void>;

beforeAll(async () => {
  ({ engine, close: closeEngine } = await startEngine());
  const escalation: RunEscalation = {
    engines: async () =>
      new Map([
        ['quickjs', { ...quickJsTraits, usable: true }],
        ['deno', { ...denoTraits, usable: true }],
      ]),
    escalationOf: () => 'auto',
    findNeed: () => undefined,
    ask: async () => undefined,
    build: (...question) => {
      isAsked.resolve();
      return build(...question);
    },
  };
  house = await openHouse({ engine, parts: { escalation } });
  const options = { tool: { idempotent: true }, manifest: { limits: { cpuMs: 150 } } };
  await house.publish('spins', '{ handler: () => { for (;;); } }', options);
  await house.publish('ends', '{ handler: () => "above" }', options);
});
afterAll(async () => {
  await house.close();
  await closeEngine();
});

async function startSpin(timeoutMs?: number) {
  house.seen.length = 0;
  isAsked = Promise.withResolvers();
  const request = { ref: 'spins', arguments: {}, caller: ann, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const answer = house.caller.call(request);
  const { subject } = await waitForEvent(house, ({ type }) => type === 'execution-start');
  return { id: subject, answer };
}

const never = () => new Promise<never>(() => {});
const isIdle = () => [house.leases.open, house.caller.load()];
const idle = [0, { pending: 0, running: 0 }];

describe('createNextAttempt', () => {
  it('runs the same arguments in the code of the higher engine, once, as another attempt of the same execution', async () => {
    const { unit: generation } = house.registry.resolve('ends').served;
    build = async (_generation, higher) => (higher === 'deno' ? generation : undefined);
    const { id, answer } = await startSpin();
    expect(await answer).toMatchObject({
      executionId: id,
      status: 'success',
      output: 'above',
      climbed: { from: 'quickjs', to: 'deno' },
    });
    expect(house.reader.get(id, ann)).toMatchObject({ attempts: 2, engine: 'deno' });
    expect(isIdle()).toEqual(idle);
  });

  it('does not try a call again that was cancelled as its attempt failed', async () => {
    const own = await startEngine();
    const failing = await openHouse({ engine: own.engine });
    await failing.publish('fails', '{ handler: () => { throw new Error("no") } }', { tool: { idempotent: true, retries: 3 } });
    const run = own.engine.run.bind(own.engine);
    own.engine.run = async (request, ...rest) => {
      const outcome = await run(request, ...rest);
      failing.caller.cancel(request.executionId, ann);
      return outcome;
    };
    const { executionId } = await failing.caller.call({ ref: 'fails', arguments: {}, caller: ann });
    expect(failing.reader.get(executionId, ann)).toMatchObject({ status: 'error', attempts: 1 });
    await failing.close();
    await own.close();
  });

  it('lets a call be cancelled while its code is made', async () => {
    build = never;
    const { id, answer } = await startSpin();
    await isAsked.promise;
    expect(house.caller.cancel(id, ann)).toBe(true);
    expect(await answer).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
    expect(isIdle()).toEqual(idle);
  });

  it('does not run a call that was cancelled just before its code was made', async () => {
    const made = Promise.withResolvers<undefined>();
    build = () => made.promise;
    const { id, answer } = await startSpin();
    await isAsked.promise;
    house.caller.cancel(id, ann);
    made.resolve(undefined);
    expect(await answer).toMatchObject({ status: 'cancelled' });
    expect(house.reader.get(id, ann)).toMatchObject({ attempts: 1, status: 'cancelled' });
    expect(isIdle()).toEqual(idle);
  });

  it('ends a call whose deadline comes while its code is made', async () => {
    build = never;
    const { answer } = await startSpin(1500);
    expect(await answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    expect(isIdle()).toEqual(idle);
  });

  it('ends a call as it ended before when its code cannot be had', async () => {
    build = async () => undefined;
    const { id, answer } = await startSpin();
    expect(await answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    expect(house.reader.get(id, ann)).toMatchObject({ attempts: 1, engine: 'quickjs' });
    expect(house.seen.filter(({ type }) => type === 'engine-change')).toEqual([]);
  });

  it('tells of a fault of the escalation, and ends the call as it ended before', async () => {
    build = () => Promise.reject(new Error('no room'));
    const { answer } = await startSpin();
    expect(await answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    expect(house.faults).toEqual([new Error('no room')]);
    expect(isIdle()).toEqual(idle);
  });

  it('does not keep the daemon from stopping', async () => {
    build = never;
    const { answer } = await startSpin();
    await isAsked.promise;
    await house.caller.drain(0);
    expect(await answer).toMatchObject({ status: 'cancelled' });
  });
});
