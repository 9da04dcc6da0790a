import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { grantContracts } from '../../src/operations/contracts/access/grants.ts';
import { keyContracts } from '../../src/operations/contracts/access/keys.ts';
import { openIdentityHouse } from './identity-house.ts';

const defines = (tool: string, text: string) =>
  `export default { tools: { ${tool}: { description: 'Says.', handler: (_: {}, context: any) => '${text}' } } };`;
const calls = `export default { permissions: { tools: ['greet'] },
  handler: async (_: {}, context: any) => context.tools.call('greet').catch((error: any) => error.message) };`;

async function open(files: Readonly<Record<string, string>>) {
  const house = openIdentityHouse({ 'plugins/calls.ts': calls, ...files });
  await house.start();
  const key = await house.invoke(keyContracts.create, { tools: ['greet', 'calls'] });
  const current = (): Caller => {
    const caller = house.parts().keys.current(key.id);
    if (caller === undefined) throw new Error('the key is not valid');
    return caller;
  };
  const direct = async () => {
    try {
      return (await house.parts().caller.call({ ref: 'greet', arguments: {}, caller: current() })).output;
    } catch (error) {
      return error instanceof Error && 'code' in error ? error.code : error;
    }
  };
  const grant = () => house.invoke(grantContracts.create, { plugin: 'calls', permissions: { tools: ['greet'] } });
  return { house, key, direct, grant, nested: async () => (await house.call('calls')).output };
}

const refusal = expect.stringContaining('Allow it with: hotcell grant calls tools=greet');

describe('a grant and a list of a key that name a tool', () => {
  it('stop when another file has the name of one that is gone, also over a restart, and go on when they are given again', async () => {
    const { house, key, direct, grant, nested } = await open({ 'plugins/first.ts': defines('greet', 'first') });
    await grant();
    expect([await direct(), await nested()]).toEqual(['first', 'first']);
    rmSync(house.path('plugins/first.ts'));
    await expect.poll(direct).toBe('tool-unknown');
    house.write('plugins/second.ts', defines('greet', 'second'));
    await expect.poll(async () => (await house.call('greet').catch(() => undefined))?.output).toBe('second');
    const { pending } = (await house.settled('plugins/calls.ts', ({ state }) => state === 'pending-grant')).permissions;
    expect(pending).toEqual({ tools: ['greet'] });
    for (const isLate of [false, true]) {
      if (isLate) await house.restart();
      expect([await direct(), await nested()]).toEqual(['tool-unknown', refusal]);
      const { items } = await house.invoke(keyContracts.list, {});
      expect(items.find(({ id }) => id === key.id)?.movedTools).toEqual(['greet']);
    }
    await grant();
    await house.invoke(keyContracts.update, { id: key.id, tools: ['greet', 'calls'] });
    expect([await direct(), await nested()]).toEqual(['second', 'second']);
  });

  it('stop when the owner defines the tool no more and another file does, and are as they were when it comes back', async () => {
    const { house, direct, grant, nested } = await open({ 'plugins/first.ts': defines('greet', 'first') });
    await grant();
    house.write('plugins/first.ts', defines('other', 'first'));
    await expect.poll(direct).toBe('tool-unknown');
    house.write('plugins/second.ts', defines('greet', 'second'));
    await expect.poll(async () => (await house.call('greet').catch(() => undefined))?.output).toBe('second');
    expect([await direct(), await nested()]).toEqual(['tool-unknown', refusal]);
    rmSync(house.path('plugins/second.ts'));
    await expect.poll(async () => (await house.call('greet').catch(() => undefined))?.output).toBeUndefined();
    house.write('plugins/first.ts', defines('greet', 'first again'));
    await expect.poll(direct).toBe('first again');
    expect(await nested()).toBe('first again');
  });

  it('mean whoever comes where the tool was not there yet', async () => {
    const { house, direct, grant, nested } = await open({});
    await grant();
    house.write('plugins/first.ts', defines('greet', 'first'));
    await expect.poll(direct).toBe('first');
    expect(await nested()).toBe('first');
  });
});
