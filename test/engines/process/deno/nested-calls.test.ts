import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BorderAnswer } from '../../../../src/border/border.ts';
import { sharePlaces } from '../../../../src/config/quotas/quota.ts';
import { createDenoRig, type DenoRig } from './deno-rig.ts';

let rig: DenoRig;
beforeAll(() => {
  rig = createDenoRig({ places: sharePlaces(3) });
});
afterAll(() => rig.close());

const parent = `{ handler: (args, context) => context.tools.call('child', args) }`;

describe('a plugin that calls a plugin', () => {
  it('makes room for the one that it waits for, deeper than calls may run at once', async () => {
    const descend = async (depth: number): Promise<BorderAnswer> => {
      if (depth === 0) return { ok: true, payload: '"the bottom"' };
      const outcome = await rig.run(parent, { answer: () => descend(depth - 1) });
      if (outcome.status === 'success') return { ok: true, payload: JSON.stringify(outcome.output) };
      return { ok: false, code: outcome.error.code, message: outcome.error.message };
    };
    expect(await descend(4)).toEqual({ ok: true, payload: '"the bottom"' });
  });

  it('is refused when too many wait already', async () => {
    const released = Promise.withResolvers<void>();
    let waiting = 0;
    const start = () =>
      rig.run(parent, {
        answer: async () => {
          waiting += 1;
          await released.promise;
          return { ok: true, payload: '"awake"' };
        },
      });
    const sleepers = Array.from({ length: 8 }, start);
    await expect.poll(() => waiting, { timeout: 20_000 }).toBe(8);
    expect(await start()).toMatchObject({ status: 'error', error: { code: 'queue-full' } });
    released.resolve();
    for (const outcome of await Promise.all(sleepers)) expect(outcome).toMatchObject({ status: 'success', output: 'awake' });
  });
});
