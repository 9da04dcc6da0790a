import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { nothingKnown, rememberingGuests } from './remembering-guests.ts';
import { type CallTool, presentParts } from './subjects.ts';

const guests = presentParts(rememberingGuests, ({ title }) => title);
const scripts = guests.filter(({ title }) => title !== 'extism');
let world: EngineHouse;

/** Two callers who never called before: workspaces belong to callers, whatever plugin wrote there. */
async function makePeople(): Promise<readonly [ann: CallTool, bob: CallTool]> {
  const [ann, bob] = await Promise.all([world.makeCaller('ann'), world.makeCaller('bob')]);
  return [ann.call, bob.call];
}

beforeAll(async () => {
  const granted = { kv: true, read: ['.'], write: ['.'] };
  const grants = Object.fromEntries(guests.map(({ plugin }) => [plugin, granted]));
  world = await openEngineHouse({ subjects: guests, config: { grants } });
}, 60_000);
afterAll(() => world.close());

describe.each(scripts.map((guest) => [guest.title, guest.plugin] as const))(
  'two callers of one plugin on %s',
  (title, plugin) => {
    it('share no memory, variables, values or files, and nothing that the guest itself wrote down', async () => {
      const [ann, bob] = await makePeople();
      await ann(`${plugin}_put`, { text: 'of ann' });
      expect((await bob(`${plugin}_get`, {})).output).toEqual(nothingKnown);
      const own = (await ann(`${plugin}_get`, {})).output;
      expect(own).toMatchObject({ kv: 'of ann', files: expect.arrayContaining(['text.txt']) });
      const isKept = title.endsWith('session');
      expect([Object(own).left, Object(own).memory.length > 0]).toEqual([isKept ? 'of ann' : null, isKept]);
    });

    it('share nothing at the same time', async () => {
      const [ann, bob] = await makePeople();
      const turns = Array.from({ length: 8 }, (_each, index) => {
        const [call, text] = index % 2 === 0 ? ([ann, 'of ann'] as const) : ([bob, 'of bob'] as const);
        return call(`${plugin}_put`, { text }).then(({ output, error }) => [text, output ?? error]);
      });
      for (const [text, output] of await Promise.all(turns)) expect(output).toEqual({ mine: [], stored: text });
    });
  },
);

describe('two callers of one module', () => {
  it('share no memory, globals, variables or values, and one caller not even with itself', async () => {
    const [ann, bob] = await makePeople();
    const list = { ok: true, payload: { items: [{ key: '7', value: 7 }] } };
    expect((await ann('remembers_extism_put', {})).output).toEqual(list);
    for (const call of [bob, ann]) expect((await call('remembers_extism_get', {})).output).toEqual([0, 0, 0, 0]);
    expect((await bob('remembers_extism_kept', {})).output).toEqual({ ok: true, payload: { items: [] } });
    expect((await ann('remembers_extism_kept', {})).output).toEqual(list);
  });
});
