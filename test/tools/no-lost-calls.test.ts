import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoverInterrupted } from '../../src/calls/record/execution-records.ts';
import { admin, ann, bob, type CallingHouse, openHouse } from './calling-house.ts';

let house: CallingHouse;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

describe('no call is lost', () => {
  it('answers every call once, with its own output, and records each', async () => {
    await house.publish(
      'echo',
      '{ handler: async (args, context) => { if (args.n % 3 === 0) await context.kv.get("x"); if (args.n % 7 === 0) throw new Error("seven"); return args.n; } }',
    );
    const answers = await Promise.all(
      Array.from({ length: 2000 }, (_, n) => house.caller.call({ ref: 'echo', arguments: { n }, caller: n % 2 ? ann : bob })),
    );
    const wrong = answers.filter(({ status, output }, n) => (n % 7 === 0 ? status !== 'error' : output !== n));
    expect(wrong).toEqual([]);
    expect(new Set(answers.map(({ executionId }) => executionId)).size).toBe(2000);
    const counts = ['success', 'error'].map((status) => house.store.executions.count({ tool: 'echo', status }));
    expect(counts).toEqual([2000 - 286, 286]);
    expect(house.leases.open).toBe(0);
  });

  it('answers every call while its plugin is published again and again', async () => {
    const code = (number: number) => `{ handler: (args, context) => context.kv.get("x").then(() => ${number}) }`;
    await house.publish('changing', code(0));
    let isOver = false;
    const results: { before: number; output: unknown; status: string }[] = [];
    let current = 0;
    const callers = Array.from({ length: 20 }, async () => {
      while (!isOver) {
        const before = current;
        const { status, output } = await house.caller.call({ ref: 'changing', arguments: {}, caller: ann });
        results.push({ before, output, status });
      }
    });
    for (let number = 1; number <= 40; number++) {
      await house.publish('changing', code(number));
      current = number;
      await house.caller.call({ ref: 'changing', arguments: {}, caller: bob });
    }
    isOver = true;
    await Promise.all(callers);
    // The older of two generations may serve a call that came in just before the publish was told here.
    const wrong = results.filter(({ before, output, status }) => status !== 'success' || Number(output) < before);
    expect([wrong, results.length > 100]).toEqual([[], true]);
  });

  it('gives ids that sort by time', async () => {
    const ids = await Promise.all(
      Array.from({ length: 300 }, () => house.caller.call({ ref: 'echo', arguments: { n: 1 }, caller: ann })),
    ).then((answers) => answers.map(({ executionId }) => executionId));
    expect(ids).toEqual([...ids].sort());
  });

  it('reads what was running at the stop as interrupted after the restart', async () => {
    const { executionId } = await house.caller.call({ ref: 'echo', arguments: { n: 1 }, caller: ann });
    const row = house.store.executions.get(executionId);
    if (row === undefined) throw new Error('the row is missing');
    house.store.executions.insert({
      ...row,
      id: 'exe_0pending',
      status: 'pending',
      endedAtMs: null,
      durationMs: null,
      outputJson: null,
    });
    expect(recoverInterrupted(house.store, Date.now())).toBe(1);
    expect(house.reader.get('exe_0pending', admin)).toMatchObject({
      status: 'error',
      error: { code: 'interrupted', fix: 'Call again.' },
    });
  });
});
