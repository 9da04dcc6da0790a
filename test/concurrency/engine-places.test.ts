import { describe, expect, it } from 'vitest';
import { answerAside, createPlaces, type Place } from '../../src/concurrency/engine-places.ts';
import type { Holder } from '../../src/concurrency/place-count.ts';
import { sharePlaces } from '../../src/config/quotas/quota.ts';

const never = new AbortController().signal;
const longWait = (operation: string) => ({ whenFull: operation === 'llm.generate' ? 'inside' : 'refused' }) as const;
const of = (callerId: string, unitPath = 'a.ts', isAdmin = false): Holder => ({ callerId, unitPath, isAdmin });
const bounds = { perCaller: 2, perPlugin: 3, inAll: 4, reserve: 1 };

/** The places of an engine in which every entry is noted. */
function openPlaces() {
  const places = createPlaces({ inside: bounds, aside: { perCaller: 1, perPlugin: 2, inAll: 2, reserve: 1 }, engine: 'tried' });
  const inside: string[] = [];
  const enter = async (holder: Holder, label = holder.callerId, signal = never): Promise<Place> => {
    const place = await places.enter(holder, signal);
    inside.push(label);
    return place;
  };
  return { places, inside, enter };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('sharePlaces', () => {
  it('leaves something to another caller of the same plugin, to another plugin, and to admins', () => {
    for (let inAll = 3; inAll <= 100; inAll++) {
      const { perCaller, perPlugin, reserve } = sharePlaces(inAll);
      expect(perCaller).toBeLessThan(perPlugin);
      expect(perPlugin).toBeLessThan(inAll);
      expect(reserve).toBeGreaterThan(0);
      expect(perCaller).toBeGreaterThan(0);
    }
  });
});

describe('createPlaces', () => {
  it('lets no caller have more than its share, however many of its calls wait, and serves the others at once', async () => {
    const { inside, enter } = openPlaces();
    for (let index = 0; index < 45; index++) void enter(of('flood', `${index}.ts`));
    await enter(of('neighbour', '0.ts'));
    await enter(of('other', 'b.ts'));
    expect(inside).toEqual(['flood', 'flood', 'neighbour', 'other']);
  });

  it('keeps the reserve for admins, and bounds a plugin over all callers', async () => {
    const { inside, enter } = openPlaces();
    for (const caller of ['ann', 'bob', 'cem', 'dan']) void enter(of(caller));
    void enter(of('eve', 'b.ts'));
    void enter(of('fay', 'c.ts'));
    await settled();
    expect(inside).toEqual(['ann', 'bob', 'cem', 'eve']);
    await enter(of('root', 'a.ts', true));
    void enter(of('root', 'd.ts', true), 'second of root');
    await settled();
    expect(inside.slice(4)).toEqual(['root']);
  });

  it('goes over callers, then over the plugins of a caller', async () => {
    const { places, inside, enter } = openPlaces();
    const holding = await Promise.all(['w', 'x', 'y', 'z'].map((id) => places.enter(of(id, `${id}.ts`), never)));
    for (const label of ['a1', 'a2', 'a3']) void enter(of('ann', 'one.ts'), label);
    void enter(of('ann', 'two.ts'), 'a4');
    void enter(of('bob', 'one.ts'), 'b1');
    for (const place of holding) {
      place.leave();
      await settled();
    }
    expect(inside).toEqual(['a1', 'b1', 'a4']);
  });

  it('takes whoever gave up out of the line, and gives a place back once', async () => {
    const { enter, inside } = openPlaces();
    const first = await enter(of('ann'));
    await enter(of('ann'));
    const ending = new AbortController();
    const givesUp = enter(of('ann'), 'gone', ending.signal);
    ending.abort(new Error('over'));
    await expect(givesUp).rejects.toThrow('over');
    first.leave();
    first.leave();
    void enter(of('ann'), 'third');
    void enter(of('ann'), 'fourth');
    await settled();
    expect(inside).toEqual(['ann', 'ann', 'third']);
  });
});

describe('answerAside', () => {
  it('frees the place while a person is asked, and delivers the answer once there is one again', async () => {
    const { enter, inside } = openPlaces();
    const asking = await enter(of('ann'));
    await enter(of('ann'));
    const question = Promise.withResolvers<void>();
    let hasAnswer = false;
    const host = { longWait, answer: () => question.promise.then(() => ({ ok: true as const, payload: 'true' })) };
    const signals = { question: never, call: never };
    const answered = answerAside(asking, host, { op: 'confirm', payload: '' }, signals).then((answer) => {
      hasAnswer = true;
      return answer;
    });
    const third = await enter(of('ann'), 'third');
    question.resolve();
    await settled();
    expect(hasAnswer).toBe(false);
    third.leave();
    expect(await answered).toEqual({ ok: true, payload: 'true' });
    void enter(of('ann'), 'fourth');
    await settled();
    expect(inside).toEqual(['ann', 'ann', 'third']);
  });

  it('refuses a question when too many of the caller wait so, and lets another caller ask', async () => {
    const { enter } = openPlaces();
    const host = { longWait, answer: () => new Promise<never>(() => {}) };
    const signals = { question: never, call: never };
    void answerAside(await enter(of('ann')), host, { op: 'confirm', payload: '' }, signals);
    const refused = answerAside(await enter(of('ann')), host, { op: 'tools.call', payload: '' }, signals);
    expect(await refused).toMatchObject({ code: 'queue-full', message: expect.stringContaining('1 calls of this caller') });
    expect((await enter(of('bob'))).stepAside()).toBeUndefined();
  });

  it('asks twice at once for one place, and a model inside where no more may wait outside', async () => {
    const { enter } = openPlaces();
    const place = await enter(of('ann'));
    expect([place.stepAside(), place.stepAside()]).toEqual([undefined, undefined]);
    await place.comeBack(never);
    const second = await enter(of('ann'));
    const model = { longWait, answer: async () => ({ ok: true as const, payload: '"hi"' }) };
    const asked = { op: 'llm.generate', payload: '' };
    expect(await answerAside(second, model, asked, { question: never, call: never })).toMatchObject({ ok: true });
    await place.comeBack(never);
    expect(place.stepAside()).toBeUndefined();
  });
});
