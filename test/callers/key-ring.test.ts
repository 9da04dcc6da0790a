import { describe, expect, it } from 'vitest';
import { createKeyRing, hashSecret } from '../../src/callers/key-ring.ts';
import { quotas } from '../../src/config/quotas.ts';
import { temporaryStore } from '../store/temporary-store.ts';

function open(store = temporaryStore(), defaults = { ratePerMinute: 0, maxConcurrent: 0 }) {
  const clock = { ms: 1_000_000 };
  return { store, clock, keys: createKeyRing({ store, now: () => clock.ms, defaults }) };
}

const rules = { tools: ['web_*'], ratePerMinute: 60, maxConcurrent: 4, mayAnswer: true, expiresAtMs: 2_000_000 };

describe('createKeyRing', () => {
  it('gives callers the rules of their key, also after a restart', () => {
    const { keys, store } = open();
    const { key, row } = keys.create({ name: 'web', role: 'caller', rules });
    const caller = { id: row.id, role: 'caller', ...rules };
    expect(keys.find(hashSecret(key))).toEqual(caller);
    expect(open(store).keys.find(hashSecret(key))).toEqual(caller);
  });

  it('lets a key end at its time', () => {
    const { keys, clock } = open();
    const { key, row } = keys.create({ name: 'web', role: 'caller', rules });
    clock.ms = 1_999_999;
    expect([keys.find(hashSecret(key))?.id, keys.current(row.id)?.id]).toEqual([row.id, row.id]);
    clock.ms = 2_000_000;
    expect([keys.find(hashSecret(key)), keys.current(row.id)]).toEqual([undefined, undefined]);
  });

  it('tells whoever watches when the time of a key is over, and then alone', async () => {
    const { keys, clock } = open();
    const told: string[] = [];
    const { row } = keys.create({ name: 'web', role: 'caller', rules: { expiresAtMs: clock.ms + 20 } });
    keys.create({ name: 'later', role: 'caller', rules: { expiresAtMs: clock.ms + 3_600_000 } });
    const over = Promise.withResolvers<void>();
    const unwatch = keys.watch((id, what) => {
      told.push(`${id} ${what}`);
      over.resolve();
    });
    clock.ms += 20;
    await over.promise;
    expect(told).toEqual([`${row.id} changed`]);
    unwatch();
  });

  it('changes rules one by one, and takes them away', () => {
    const { keys } = open();
    const { key, row } = keys.create({ name: 'web', role: 'caller', rules });
    const before = keys.find(hashSecret(key));
    keys.update(row.id, { ratePerMinute: 5, tools: null, expiresAtMs: null });
    expect(keys.find(hashSecret(key))).toEqual({
      id: row.id,
      role: 'caller',
      ratePerMinute: 5,
      maxConcurrent: 4,
      mayAnswer: true,
    });
    // Connections that were opened with the old rules see that they are old.
    expect(keys.current(row.id)).not.toBe(before);
  });

  it('has defaults for keys of role caller alone', () => {
    const { keys } = open(temporaryStore(), { ratePerMinute: 30, maxConcurrent: 2 });
    const find = (role: 'admin' | 'caller', own = {}) => keys.find(hashSecret(keys.create({ name: 'a', role, rules: own }).key));
    expect(find('caller')).toMatchObject({ ratePerMinute: 30, maxConcurrent: 2 });
    expect(find('caller', { ratePerMinute: 90 })).toMatchObject({ ratePerMinute: 90, maxConcurrent: 2 });
    expect(find('admin')).not.toHaveProperty('ratePerMinute');
    expect(find('admin', { ratePerMinute: 90 })).toMatchObject({ ratePerMinute: 90 });
  });

  it('refuses rules that would mean nothing', () => {
    const { keys } = open();
    const create = (role: 'admin' | 'caller', own: object) => () => keys.create({ name: 'a', role, rules: own });
    expect(create('admin', { tools: ['a'] })).toThrow('for keys of role caller');
    expect(create('admin', { mayAnswer: true })).toThrow('for keys of role caller');
    expect(create('caller', { expiresAtMs: 1 })).toThrow('expired already');
    expect(() => keys.update('key_none', {})).toThrow('no valid key');
  });

  it('lets nobody in whose rules are damaged', () => {
    const { keys, store } = open();
    const { key, row } = keys.create({ name: 'web', role: 'caller', rules });
    for (const damaged of ['', '{"tools":"*"}', '{"role":"admin"}', '[]']) {
      store.keys.setRules(row.id, damaged, null);
      expect(open(store).keys.find(hashSecret(key))).toBeUndefined();
    }
    store.keys.setRules(row.id, JSON.stringify(rules), '{');
    expect(open(store).keys.find(hashSecret(key))).toBeUndefined();
  });

  it('lets no key fill the daemon with keys, neither beside nor below one another', () => {
    const { keys, store } = open();
    const most = quotas['keys.made'].perCaller;
    const make = (madeBy?: string, ring = keys) =>
      ring.create({ name: 'k', role: 'admin', ...(madeBy === undefined ? {} : { madeBy }) }).row.id;
    const first = make();
    let last = first;
    for (let made = 1; made < most; made++) last = make(made % 2 === 0 ? first : last);
    for (const by of [first, last]) expect(() => make(by)).toThrow('keys come of one that the operator made');
    keys.revoke(last);
    expect(() => make(first)).toThrow('revoked ones counted');
    expect(() => make(first, open(store).keys)).toThrow('revoked ones counted');
    expect(keys.areOfOneLine(first, last)).toBe(true);
    const other = make();
    expect([keys.areOfOneLine(other, make(other)), keys.areOfOneLine(other, first)]).toEqual([true, false]);
  });

  it('finds who made whom, however long a line is', () => {
    const store = temporaryStore();
    const row = {
      name: 'k',
      role: 'admin',
      createdAtMs: 1,
      lastUsedAtMs: null,
      revokedAtMs: null,
      rulesJson: '{}',
      toolOwnersJson: null,
    } as const;
    for (let n = 0; n < 20_000; n++) {
      store.keys.insert({ ...row, id: `key_${n}`, secretHash: `${n}`, madeBy: n === 0 ? 'local' : `key_${n - 1}` });
    }
    expect(open(store).keys.areOfOneLine('key_0', 'key_19999')).toBe(true);
  });

  it('tells whoever watches when a key was changed or revoked, until they are through', () => {
    const { keys } = open();
    const { row } = keys.create({ name: 'web', role: 'caller' });
    const seen: boolean[] = [];
    const end = keys.watch(() => seen.push(keys.current(row.id) !== undefined));
    keys.update(row.id, { ratePerMinute: 1 });
    keys.revoke(row.id);
    expect(seen).toEqual([true, false]);
    end();
    keys.revoke(row.id);
    expect(seen).toHaveLength(2);
  });

  it('changes nothing of a key that is revoked', () => {
    const { keys } = open();
    const { row } = keys.create({ name: 'web', role: 'caller' });
    keys.revoke(row.id);
    expect(() => keys.update(row.id, { ratePerMinute: 1 })).toThrow('no valid key');
    expect(keys.current(row.id)).toBeUndefined();
  });
});
