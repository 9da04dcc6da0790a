import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/store/migrations.ts';
import { createKeptAnswerTable } from '../../src/store/tables/kept-answers.ts';

function open(bounds = { each: 100, perCaller: 250, inAll: 400 }) {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  return { table: createKeptAnswerTable(database, bounds), again: () => createKeptAnswerTable(database, bounds) };
}
const row = (caller: string, key: string, atMs: number, bytes = 100) => ({ caller, key, atMs, value: 'x'.repeat(bytes) });

describe('createKeptAnswerTable', () => {
  it('finds what a caller keeps, and nothing for another caller', () => {
    const { table } = open();
    expect(table.put(row('a', 'k', 1))).toBe(true);
    expect(table.get('a', 'k')).toMatchObject({ caller: 'a', key: 'k', atMs: 1 });
    expect(table.get('b', 'k')).toBeUndefined();
    expect(table.remove('b', 'k')).toBe(false);
    expect(table.remove('a', 'k')).toBe(true);
    expect(table.bytes('a')).toBe(0);
  });

  it('lets one key be claimed once', () => {
    const { table } = open();
    expect(table.claim(row('a', 'k', 1))).toBe(true);
    expect(table.claim(row('a', 'k', 2))).toBe(false);
    expect(table.bytes('a')).toBe(100);
  });

  it('keeps nothing that is too long, and lets the oldest of the caller go', () => {
    const { table } = open();
    expect(table.put(row('a', 'long', 1, 101))).toBe(false);
    for (const [key, atMs] of [
      ['k1', 1],
      ['k2', 2],
      ['k3', 3],
    ] as const)
      table.put(row('a', key, atMs));
    expect([table.get('a', 'k1'), table.get('a', 'k2')?.key, table.get('a', 'k3')?.key]).toEqual([undefined, 'k2', 'k3']);
    // The same key again takes the place of what it had.
    table.put(row('a', 'k3', 4, 10));
    expect(table.bytes('a')).toBe(110);
  });

  it('takes from whoever has most where all together have too much, over restarts', () => {
    const { table, again } = open();
    for (const [caller, key] of [
      ['a', 'k1'],
      ['a', 'k2'],
      ['b', 'k1'],
    ] as const)
      table.put(row(caller, key, 1));
    const restarted = again();
    restarted.put(row('c', 'k1', 2));
    restarted.put(row('d', 'k1', 3));
    expect(restarted.bytes('a')).toBe(100);
    expect([restarted.bytes('b'), restarted.bytes('c'), restarted.bytes('d')]).toEqual([100, 100, 100]);
  });

  it('forgets what is old', () => {
    const { table } = open();
    table.put(row('a', 'k1', 1));
    table.put(row('a', 'k2', 5));
    table.prune(5);
    expect(table.get('a', 'k1')).toBeUndefined();
    expect(table.bytes('a')).toBe(100);
  });
});
