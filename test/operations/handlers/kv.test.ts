import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../src/client/client.ts';
import { type KvEntryView, kvContracts } from '../../../src/operations/contracts/kv.ts';
import { readKvCursor } from '../../../src/operations/handlers/kv.ts';
import { startSmallDaemon } from '../../small-daemon.ts';

const keeper = `
export default {
  name: 'keeper', description: 'Keeps values.', permissions: { kv: { quotaBytes: 200000 } },
  handler: ({ key, value }: { key: string; value?: any }, { kv }) => (value === undefined ? kv.get(key) : kv.set(key, value)),
};`;

describe('kv operations', () => {
  let small: Awaited<ReturnType<typeof startSmallDaemon>>;
  let admin: ReturnType<typeof createHttpClient>;
  let ann: ReturnType<typeof createHttpClient>;
  let annId: string;
  beforeAll(async () => {
    small = await startSmallDaemon({ 'keeper.ts': keeper }, {}, { listen: true });
    const { url = '', token } = small.daemon;
    const { row, key } = small.parts.keys.create({ name: 'ann', role: 'caller' });
    annId = row.id;
    admin = createHttpClient({ url, token });
    ann = createHttpClient({ url, token: key });
  });
  afterAll(() => small.close());

  async function exportAll(client: typeof admin, query: object = {}): Promise<KvEntryView[]> {
    const all: KvEntryView[] = [];
    let cursor: string | undefined;
    do {
      const page: { items: KvEntryView[]; next?: string } = await client.invoke(kvContracts.export, {
        plugin: 'keeper',
        limit: 7,
        ...query,
        ...(cursor === undefined ? {} : { cursor }),
      });
      all.push(...page.items);
      cursor = page.next;
    } while (cursor !== undefined);
    return all;
  }

  it('exports what plugins wrote and imports it again, page by page', async () => {
    for (let n = 0; n < 20; n++) await small.call('keeper', { key: `k${n}`, value: { n } });
    await small.call('keeper', { key: 'k0', value: 'of ann' }, { caller: { id: annId, role: 'caller' } });
    const all = await exportAll(admin);
    expect(all.length).toBe(21);
    expect(all).toContainEqual({ caller: annId, key: 'k0', value: 'of ann' });
    expect(all).toContainEqual({ caller: 'local', key: 'k19', value: { n: 19 } });
    const deleted = await admin.invoke(kvContracts.delete, { plugin: 'keeper', prefix: 'k1' });
    expect(deleted).toEqual({ plugin: 'keeper', deleted: 11 });
    expect((await exportAll(admin)).length).toBe(10);
    expect(await admin.invoke(kvContracts.import, { plugin: 'keeper', entries: all })).toEqual({ plugin: 'keeper', written: 21 });
    expect(await exportAll(admin)).toEqual(all);
    expect((await small.call('keeper', { key: 'k19' })).output).toEqual({ n: 19 });
  });

  it('lists keys with sizes and owners', async () => {
    const list = await admin.invoke(kvContracts.list, { plugin: 'keeper', caller: annId });
    expect(list).toEqual({
      plugin: 'keeper',
      items: [{ caller: annId, key: 'k0', bytes: 8 }],
      owners: [{ caller: annId, bytes: 10 }],
    });
    expect((await admin.invoke(kvContracts.list, { plugin: 'keeper' })).owners.length).toBe(2);
  });

  it('shows a caller its own values alone', async () => {
    expect(await exportAll(ann)).toEqual([{ caller: annId, key: 'k0', value: 'of ann' }]);
    expect((await ann.invoke(kvContracts.list, { plugin: 'keeper' })).owners).toEqual([{ caller: annId, bytes: 10 }]);
    for (const caller of ['local', '*']) {
      const named = { plugin: 'keeper', caller };
      await expect(ann.invoke(kvContracts.list, named)).rejects.toMatchObject({ code: 'forbidden' });
      await expect(ann.invoke(kvContracts.export, named)).rejects.toMatchObject({ code: 'forbidden' });
      await expect(ann.invoke(kvContracts.delete, { ...named, prefix: '' })).rejects.toMatchObject({ code: 'forbidden' });
      const entries = [{ key: 'x', value: 1 }];
      await expect(ann.invoke(kvContracts.import, { ...named, entries })).rejects.toMatchObject({ code: 'forbidden' });
    }
    const mixed = {
      plugin: 'keeper',
      entries: [
        { key: 'mine', value: 1 },
        { caller: 'local', key: 'theirs', value: 1 },
      ],
    };
    await expect(ann.invoke(kvContracts.import, mixed)).rejects.toMatchObject({ code: 'forbidden' });
    expect((await exportAll(ann)).length).toBe(1);
    // A cursor of somebody else's page opens nothing.
    const { next } = await admin.invoke(kvContracts.export, { plugin: 'keeper', caller: 'local', limit: 1 });
    const page = await ann.invoke(kvContracts.export, { plugin: 'keeper', cursor: next ?? '' });
    expect(page.items.every(({ caller }) => caller === annId)).toBe(true);
  });

  it('holds the quota of the grant and says how far it came', async () => {
    const entries = [
      { key: 'small', value: 1 },
      { key: 'big', value: 'x'.repeat(199_999) },
    ];
    await expect(ann.invoke(kvContracts.import, { plugin: 'keeper', entries })).rejects.toMatchObject({
      code: 'quota-exceeded',
      message: expect.stringContaining('1 entries were written before it'),
    });
    const huge = [{ key: 'huge', value: 'x'.repeat(300_000) }];
    await expect(ann.invoke(kvContracts.import, { plugin: 'keeper', entries: huge })).rejects.toMatchObject({
      code: 'payload-too-large',
    });
  });

  it('refuses what is no entry, no cursor and no plugin', async () => {
    const invoke = (input: object) => admin.invoke(kvContracts.import, Object.assign({ plugin: 'keeper', entries: [] }, input));
    for (const entries of [[], [{ key: '', value: 1 }], [{ key: 'a' }], [{ key: 'a', value: 1, more: 1 }], 'text']) {
      await expect(invoke({ entries })).rejects.toMatchObject({ code: 'body-invalid' });
    }
    await expect(admin.invoke(kvContracts.delete, { plugin: 'keeper' })).rejects.toMatchObject({ code: 'body-invalid' });
    await expect(admin.invoke(kvContracts.export, { plugin: 'kepper' })).rejects.toMatchObject({
      code: 'plugin-unknown',
      message: expect.stringContaining('Did you mean "keeper"?'),
    });
    const invented = { plugin: 'kepper', entries: [{ key: 'a', value: 1 }] };
    await expect(ann.invoke(kvContracts.import, invented)).rejects.toMatchObject({
      code: 'plugin-unknown',
      message: 'There is no plugin "kepper" of which you have values.',
    });
    for (const cursor of ['x', 'W10', Buffer.from('[1,2]').toString('base64url'), Buffer.from('["a"]').toString('base64url')]) {
      expect(() => readKvCursor(cursor)).toThrow('is none that a page before gave out');
    }
  });

  it('ends a page at its size', async () => {
    const value = 'x'.repeat(90_000);
    await small.call('keeper', { key: 'large-1', value });
    await small.call('keeper', { key: 'large-2', value });
    for (let n = 0; n < 12; n++) {
      const entries = [{ key: 'large', value }];
      await admin.invoke(kvContracts.import, { plugin: 'keeper', caller: `key_${n}`, entries });
    }
    const { items, next } = await admin.invoke(kvContracts.export, { plugin: 'keeper', limit: 1000 });
    expect(JSON.stringify(items).length).toBeLessThan(1_200_000);
    expect(next).toBeDefined();
    expect((await exportAll(admin, { limit: 1000 })).filter(({ key }) => key.startsWith('large')).length).toBe(14);
  });
});
