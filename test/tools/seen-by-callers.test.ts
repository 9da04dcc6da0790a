import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { seesTool } from '../../src/tools/seen-by-callers.ts';
import { ann, type CallingHouse, openHouse } from './calling-house.ts';

const noFlags = {
  isResearch: false,
  isSideEffect: false,
  isDeep: false,
  isDangerous: false,
  isElevated: false,
  isParallelSafe: false,
};
const web: Caller = { id: 'key_web', role: 'caller', tools: ['web_*'] };
const stranger: Caller = { id: 'anonymous:1', role: 'caller', tools: ['*'], isAnonymous: true };

let house: CallingHouse;
beforeAll(async () => {
  house = await openHouse();
  for (const name of ['web_search', 'web_fetch', 'delete_all']) await house.publish(name, '{ handler: () => 1 }');
  await house.publish('dangerous', '{ handler: () => 1 }', { tool: { flags: { ...noFlags, isDangerous: true } } });
  await house.publish('elevated', '{ handler: () => 1 }', { tool: { flags: { ...noFlags, isElevated: true } } });
  await house.publish('shared', '{ handler: () => 1 }', {
    manifest: { isolation: 'plugin' },
    granted: { sharedCell: true },
  });
});
afterAll(() => house.close());

const call = (ref: string, caller: Caller) => house.caller.call({ ref, arguments: {}, caller });

describe('a caller with a list of tools', () => {
  it('calls what the list names', async () => {
    expect((await call('web_search', web)).status).toBe('success');
  });

  it('hears of no other tool, as little as of one that does not exist', async () => {
    const refused = (ref: string) => call(ref, web).catch((error: unknown) => error);
    for (const ref of ['delete_all', 'delete_all@1.0.0', 'delete_all@^1', 'delete_al', 'shared']) {
      const error = await refused(ref);
      expect(error).toMatchObject({ code: 'tool-unknown', status: 404 });
      // The name that was asked for is said again; no other name is.
      expect(JSON.stringify(error)).not.toMatch(ref === 'delete_al' ? /delete_all/ : /Did you mean|versions/);
    }
    expect(await refused('web_serch')).toMatchObject({ message: expect.stringContaining('Did you mean "web_search"') });
  });

  it('is answered the same whatever others resolved before', async () => {
    expect((await call('delete_all', { id: 'local', role: 'admin' })).status).toBe('success');
    await expect(call('delete_all', web)).rejects.toMatchObject({ code: 'tool-unknown' });
  });
});

describe('seesTool', () => {
  it('keeps what is dangerous, elevated or shared from strangers, whatever their list says', () => {
    const seen = house.registry.list().filter((entry) => seesTool(stranger, entry));
    expect(seen.map(({ name }) => name)).toEqual(['delete_all', 'web_fetch', 'web_search']);
  });

  it('keeps a tool that asks a person from strangers', () => {
    const entry = house.registry.resolve('web_search');
    const hybrid = { ...entry, manifest: { ...entry.manifest, who: 'both' as const } };
    expect(seesTool(stranger, hybrid)).toBe(false);
    expect(seesTool({ id: 'a', role: 'caller' }, hybrid)).toBe(true);
  });

  it('shows nobody anything by an empty list', () => {
    expect(house.registry.list().some((entry) => seesTool({ id: 'a', role: 'caller', tools: [] }, entry))).toBe(false);
  });
});

describe('calls of one turn', () => {
  it('run one after the other, but for those whose tools are marked isParallelSafe', async () => {
    const running = { now: 0, most: 0, last: [] as string[] };
    const gate = Promise.withResolvers<void>();
    const open = await openHouse({
      answer: async ({ payload }) => {
        running.most = Math.max(running.most, ++running.now);
        running.last.push(payload);
        await gate.promise;
        running.now--;
        return { ok: true, payload: 'null' };
      },
    });
    const code = '{ handler: async (args, context) => context.kv.get(args.n) }';
    await open.publish('writes', code, { tool: { flags: noFlags } });
    await open.publish('reads', code, { tool: { flags: { ...noFlags, isParallelSafe: true } } });
    const ask = (ref: string, n: string) => open.caller.call({ ref, arguments: { n }, caller: ann, turn: 't1' });
    const writes = ['1', '2', '3'].map((n) => ask('writes', n));
    const reads = ['4', '5'].map((n) => ask('reads', n));
    await expect.poll(() => running.now).toBe(3);
    gate.resolve();
    await Promise.all([...writes, ...reads]);
    expect(running.most).toBe(3);
    expect(running.last.filter((text) => /[123]/.test(text)).join()).toMatch(/1.*2.*3/);
    await open.close();
  });
});
