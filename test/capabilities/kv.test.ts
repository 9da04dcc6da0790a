import { describe, expect, it } from 'vitest';
import { createUser } from './capability-user.ts';
import { openTable } from './table-harness.ts';

describe('createKv', () => {
  it('keeps JSON values by key', async () => {
    await using table = openTable();
    const user = createUser({ kv: true });
    const value = { list: [1, 'zwei', null], nested: { yes: true } };
    expect(await table.value('kv.get', { key: 'a' }, user)).toBe(null);
    expect(await table.value('kv.set', { key: 'a', value }, user)).toBe(null);
    expect(await table.value('kv.get', { key: 'a' }, user)).toEqual(value);
    expect(await table.value('kv.delete', { key: 'a' }, user)).toBe(true);
    expect(await table.value('kv.delete', { key: 'a' }, user)).toBe(false);
    expect(await table.value('kv.set', { key: '__proto__', value: null }, user)).toBe(null);
    expect(await table.value('kv.list', {}, user)).toEqual({ items: [{ key: '__proto__', value: null }] });
  });

  it('lists by prefix, page by page', async () => {
    await using table = openTable();
    const user = createUser({ kv: true });
    for (const key of ['b:1', 'a:2', 'a:1', 'a:3']) await table.value('kv.set', { key, value: key }, user);
    expect(await table.value('kv.list', { prefix: 'a:', limit: 2 }, user)).toEqual({
      items: [
        { key: 'a:1', value: 'a:1' },
        { key: 'a:2', value: 'a:2' },
      ],
      next: 'a:2',
    });
    expect(await table.value('kv.list', { prefix: 'a:', limit: 2, after: 'a:2' }, user)).toEqual({
      items: [{ key: 'a:3', value: 'a:3' }],
    });
  });

  it('says of wrong arguments what was expected and what came', async () => {
    await using table = openTable();
    const user = createUser({ kv: true });
    expect(await table.value('kv.get', { key: 5 }, user)).toContain(
      'arguments-invalid: The arguments of kv.get are not usable: "key" must be string, got the number 5.',
    );
    expect(await table.value('kv.get', {}, user)).toContain('"key" is missing.');
    expect(await table.value('kv.get', { key: '' }, user)).toMatch(/"key" must not have fewer than 1 characters, got 0\./);
  });

  it('is refused without a grant, by name', async () => {
    await using table = openTable();
    const user = createUser();
    for (const op of ['kv.get', 'kv.set', 'kv.delete', 'kv.list']) {
      expect(await table.value(op, { key: 'a', value: 1 }, user)).toBe(
        'permission-denied: Tool "weather" may not use context.kv. ' + 'Allow it with: hotcell grant weather kv',
      );
    }
    user.grant({ kv: true });
    expect(await table.value('kv.set', { key: 'a', value: 1 }, user)).toBe(null);
  });

  it('keeps plugins and callers apart, until a grant shares among callers', async () => {
    await using table = openTable();
    const ann = createUser({ kv: true }, { caller: 'ann' });
    const bob = createUser({ kv: true }, { caller: 'bob' });
    const other = createUser({ kv: { shared: true } }, { caller: 'ann', plugin: 'other' });
    await table.value('kv.set', { key: 'k', value: 'own' }, ann);
    expect(await table.value('kv.get', { key: 'k' }, bob)).toBe(null);
    ann.grant({ kv: { shared: true } });
    bob.grant({ kv: { shared: true } });
    expect(await table.value('kv.get', { key: 'k' }, ann)).toBe(null);
    await table.value('kv.set', { key: 'k', value: 'shared' }, ann);
    expect(await table.value('kv.get', { key: 'k' }, bob)).toBe('shared');
    expect(await table.value('kv.get', { key: 'k' }, other)).toBe(null);
    ann.grant({ kv: true });
    expect(await table.value('kv.get', { key: 'k' }, ann)).toBe('own');
  });

  it('holds the quota of the grant, else the default, and writes nothing beyond it', async () => {
    await using table = openTable({ kv: { quotaBytes: 20 } });
    const user = createUser({ kv: true });
    expect(await table.value('kv.set', { key: 'a', value: 'x'.repeat(17) }, user)).toBe(null);
    expect(await table.value('kv.set', { key: 'b', value: 1 }, user)).toContain(
      'quota-exceeded: context.kv may hold 20 bytes here',
    );
    expect(await table.value('kv.get', { key: 'b' }, user)).toBe(null);
    expect(await table.value('kv.set', { key: 'a', value: 'shorter' }, user)).toBe(null);
    expect(await table.value('kv.set', { key: 'b', value: 1 }, user)).toBe(null);
    user.grant({ kv: { quotaBytes: 5 } });
    expect(await table.value('kv.set', { key: 'c', value: 1 }, user)).toContain('may hold 5 bytes');
    expect(await table.value('kv.delete', { key: 'a' }, user)).toBe(true);
    expect(await table.value('kv.set', { key: 'c', value: 1 }, user)).toBe(null);
  });

  it('bounds keys and values', async () => {
    await using table = openTable({ kv: { maxValueBytes: 10 } });
    const user = createUser({ kv: true });
    expect(await table.value('kv.set', { key: 'a', value: 'ééééé' }, user)).toContain('payload-too-large');
    // So long that nothing of it is read, not even whether it fits the shape.
    expect(await table.value('kv.set', { key: 'a', value: 1, more: 'x'.repeat(10_000) }, user)).toContain('payload-too-large');
    expect(await table.value('kv.set', { key: '', value: 1 }, user)).toContain('arguments-invalid');
    expect(await table.value('kv.set', { key: 'k'.repeat(513), value: 1 }, user)).toContain('arguments-invalid');
    expect(await table.value('kv.set', { key: 'a' }, user)).toContain('arguments-invalid');
    expect(await table.value('kv.list', { limit: 0 }, user)).toContain('arguments-invalid');
    expect(await table.value('kv.get', { key: 1 }, user)).toContain('arguments-invalid');
  });
});
