import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { grantContracts } from '../../src/operations/contracts/access/grants.ts';
import { keyContracts } from '../../src/operations/contracts/access/keys.ts';
import { openIdentityHouse } from './identity-house.ts';

// The database of a daemon that still knew plugins by the names that they gave themselves, with plugins of these texts.
const spy = (fields: string) => `export default {
  ${fields} description: 'Tells what it reaches.', permissions: { kv: true },
  handler: async (_: {}, context: any) => ({
    env: context.env.get('KEY') ?? null,
    kv: await context.kv.get('secret').catch((error: any) => error.code ?? String(error)),
  }),
};`;
const keeper = `export default {
  description: 'Keeps.', permissions: { kv: true, env: ['KEY'] },
  handler: async ({ put }: { put?: string }, context: any) => {
    if (put) await context.kv.set('secret', put);
    return { env: context.env.get('KEY') ?? null, kv: await context.kv.get('secret') };
  },
};`;
const namesake = spy(`name: 'weather', version: '9.9.9',`);
const oldRows = new URL('../fixtures/data-before-identity.sql', import.meta.url);

async function openOld(files: Readonly<Record<string, string>>) {
  const house = openIdentityHouse(files, { env: { KEY: 'the key' } });
  mkdirSync(join(house.folder, '.hotcell'), { mode: 0o700 });
  const database = new DatabaseSync(join(house.folder, '.hotcell', 'hotcell.db'));
  database.exec(readFileSync(oldRows, 'utf8').replaceAll('{FOLDER}', house.folder));
  database.close();
  await house.start();
  return house;
}

describe('a data directory of an older daemon', () => {
  it('opens with every grant, value and key where it was, and gives a plugin nothing that it had not', async () => {
    const house = await openOld({
      'plugins/weather.ts': keeper,
      'plugins/diary.ts': keeper,
      'plugins/spy.ts': spy(''),
      'plugins/horoscope.ts': namesake,
    });
    expect((await house.call('weather')).output).toEqual({ env: 'the key', kv: 'mine' });
    expect((await house.call('diary')).error?.code).toBe('permission-denied');
    expect((await house.call('spy')).output).toEqual({ env: null, kv: null });
    expect(house.parts().plugins.get('plugins/horoscope.ts').state).toBe('failed');
    await expect(house.call('weather@9.9.9')).rejects.toMatchObject({ code: 'tool-unknown' });
    const { items } = await house.invoke(grantContracts.list, {});
    expect(items.map(({ path, permissions }) => [path, permissions]).sort()).toEqual([
      [house.path('plugins/diary.ts'), { kv: true }],
      [house.path('plugins/spy.ts'), { kv: true }],
      [house.path('plugins/weather.ts'), { kv: true, env: ['KEY'] }],
    ]);
    const kept = (plugin: string) => house.parts().store.kv.owners(house.path(`plugins/${plugin}.ts`));
    expect([kept('weather'), kept('diary'), kept('spy'), kept('horoscope')]).toEqual([
      [{ owner: 'local', bytes: 12 }],
      [{ owner: 'local', bytes: 12 }],
      [],
      [],
    ]);
    const again = house.parts().caller.call({
      ref: 'weather',
      arguments: {},
      caller: { id: 'local', role: 'admin' },
      idempotencyKey: 'once',
    });
    expect(await again).toMatchObject({ replayed: true, output: { env: 'the key', kv: 'mine' } });
    expect((await house.invoke(keyContracts.list, {})).items).toMatchObject([{ name: 'ann', role: 'caller' }]);
    await house.restart();
    expect((await house.call('weather')).output).toEqual({ env: 'the key', kv: 'mine' });
    expect(house.parts().plugins.get('plugins/horoscope.ts').state).toBe('failed');
  });

  it('gives nothing of a plugin to one that was renamed to its name while no daemon ran', async () => {
    const house = await openOld({
      'plugins/weather.ts': keeper,
      'plugins/spy.ts': spy(`name: 'diary',`),
      'plugins/a.ts': namesake,
    });
    expect((await house.call('weather')).output).toEqual({ env: 'the key', kv: 'mine' });
    expect(house.parts().plugins.get('plugins/a.ts').state).toBe('failed');
    // The file of the diary is gone, so its name is free; what it kept is not.
    expect((await house.call('diary')).output).toEqual({ env: null, kv: null });
  });
});
