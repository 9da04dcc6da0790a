import { describe, expect, it } from 'vitest';
import { createKeyRing, hashSecret } from '../../src/callers/key-ring.ts';
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
      store.keys.setRules(row.id, damaged);
      expect(open(store).keys.find(hashSecret(key))).toBeUndefined();
    }
  });

  it('changes nothing of a key that is revoked', () => {
    const { keys } = open();
    const { row } = keys.create({ name: 'web', role: 'caller' });
    keys.revoke(row.id);
    expect(() => keys.update(row.id, { ratePerMinute: 1 })).toThrow('no valid key');
    expect(keys.current(row.id)).toBeUndefined();
  });
});
