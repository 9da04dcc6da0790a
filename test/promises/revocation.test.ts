import { mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantContracts } from '../../src/operations/contracts/access/grants.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';

const counts = `export default {
  name: 'counts', description: 'Counts until it is denied.', permissions: { kv: true },
  handler: async (args: {}, context: any) => {
    for (let n = 0; n < 800; n++) {
      try { await context.kv.set('n', n); } catch (error: any) { return { code: error.code, message: error.message }; }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return { code: 'never denied' };
  },
};
`;
const notes = (permissions: string) => `export default {
  name: 'notes', description: 'Notes.', permissions: ${permissions},
  handler: async (args: {}, context: any) => { await context.kv.set('a', 1); return ${JSON.stringify(permissions)}; },
};
`;

let folder: string;
let house: DaemonHouse;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hotcell-grants-'));
  mkdirSync(join(folder, 'plugins'));
  writeFileSync(join(folder, 'hotcell.config.yaml'), 'port: 0\nworkers: { min: 1, max: 1 }\n');
  writeFileSync(join(folder, 'plugins', 'counts.ts'), counts);
  writeFileSync(join(folder, 'plugins', 'notes.ts'), notes('{ kv: true }'));
  house = await openDaemonHouse(folder);
});
afterAll(async () => {
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const grant = (plugin: string, more: object = { requested: true }) =>
  house.client.invoke(grantContracts.create, { plugin, ...more });
const revoke = (plugin: string) => house.client.invoke(grantContracts.revoke, { plugin });
const info = (name: string) => house.client.invoke(pluginContracts.get, { name });

describe('a grant that is revoked', () => {
  it('ends on the next use inside a running call', async () => {
    expect((await info('counts')).state).toBe('pending-grant');
    expect(await grant('counts')).toMatchObject({ state: 'ready', pending: {} });
    const used = house.event('permission-use', ({ data }) => data.tool === 'counts' && data.allowed);
    const answer = house.call('counts');
    await used;
    expect(await revoke('counts')).toMatchObject({ state: 'pending-grant', granted: {}, pending: { kv: true } });
    expect((await answer).output).toEqual({
      code: 'permission-denied',
      message: expect.stringContaining('Allow it with: hotcell grant counts kv'),
    });
    expect((await info('counts')).permissions.used).toMatchObject([{ permission: 'kv' }]);
  });
});

describe('a request that grew', () => {
  it('waits while the older generation serves, also when that one is granted again or loses its grant', async () => {
    await grant('notes');
    writeFileSync(join(folder, 'plugins', 'notes.ts'), notes("{ kv: true, net: ['a.com', 'b.com'] }"));
    await until(async () => (await info('notes')).permissions.waitingGeneration === 2, 'the newer generation');
    const older = { output: '{ kv: true }' };
    expect(await house.call('notes')).toMatchObject(older);
    expect(await info('notes')).toMatchObject({
      generation: 1,
      permissions: { waitingGeneration: 2, pending: { net: ['a.com', 'b.com'] } },
    });
    expect(await grant('notes', { permissions: { net: ['a.com'] } })).toMatchObject({
      state: 'pending-grant',
      pending: { net: ['b.com'] },
    });
    expect(await house.call('notes')).toMatchObject(older);
    expect(await grant('notes')).toMatchObject({ state: 'ready', pending: {} });
    expect(await house.call('notes')).toMatchObject({ output: expect.stringContaining('b.com') });
    expect(await revoke('notes')).toMatchObject({ state: 'pending-grant' });
    expect((await house.call('notes')).error?.message).toContain('hotcell grant notes kv');
  });
});

describe('a grant and its file', () => {
  it('is not carried on by a copy, a rename or a deletion', async () => {
    const at = (name: string) => join(folder, 'plugins', name);
    const asksInVain = (file: string) => async () => {
      const { items } = await house.client.invoke(pluginContracts.list, {});
      const view = items.find(({ path }) => path.endsWith(file));
      return view?.generation !== undefined && view.permissions.pending.kv === true;
    };
    const gone = (file: string) => async () => {
      const { items } = await house.client.invoke(pluginContracts.list, {});
      return !items.some(({ path }) => path.endsWith(file));
    };
    const text = notes('{ kv: true }').replace("'notes'", "'one'");
    writeFileSync(at('one.ts'), text);
    await until(asksInVain('one.ts'), 'the plugin');
    await grant('one');
    expect((await house.call('one')).status).toBe('success');
    writeFileSync(at('copy.ts'), text.replace("'one'", "'copied'"));
    await until(asksInVain('copy.ts'), 'the copy');
    unlinkSync(at('copy.ts'));
    await until(gone('copy.ts'), 'the end of the copy');
    renameSync(at('one.ts'), at('two.ts'));
    await until(gone('one.ts'), 'the end of the old name');
    await until(asksInVain('two.ts'), 'the new name');
    expect((await house.call('one')).error?.code).toBe('permission-denied');
    unlinkSync(at('two.ts'));
    await until(gone('two.ts'), 'the end of the new name');
    writeFileSync(at('one.ts'), text);
    await until(asksInVain('one.ts'), 'the later file');
  });
});

describe('a grant of a limited scope', () => {
  it('holds for one call, or for one session', async () => {
    await grant('notes', { permissions: { kv: true }, scope: 'once' });
    expect((await house.call('notes')).status).toBe('success');
    expect((await house.call('notes')).status).toBe('error');
    await grant('notes', { permissions: { kv: true }, session: 'default' });
    expect((await house.call('notes')).status).toBe('success');
    await revoke('notes');
    await grant('notes', { permissions: { kv: true }, session: 'another' });
    expect((await house.call('notes')).status).toBe('error');
    const { items } = await house.client.invoke(grantContracts.list, { plugin: 'notes' });
    expect(items).toMatchObject([{ scope: 'session', session: 'another', caller: 'local', status: 'in-force' }]);
  });
});
