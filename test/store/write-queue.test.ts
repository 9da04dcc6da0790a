import { describe, expect, it } from 'vitest';
import type { HotcellError } from '../../src/errors/hotcell-error.ts';
import { endedRow, pendingRow } from './rows.ts';
import { temporaryStore } from './temporary-store.ts';

describe('committed', () => {
  it('is one promise for everybody who waits for the same transaction', async () => {
    const { executions, committed } = temporaryStore();
    executions.insert(endedRow('e1'));
    const first = committed();
    executions.insert(endedRow('e2'));
    expect(committed()).toBe(first);
    await first;
    executions.insert(endedRow('e3'));
    expect(committed()).not.toBe(first);
    await committed();
  });

  it('resolves when nothing is queued, and when a read committed in between', async () => {
    const { executions, committed } = temporaryStore();
    await committed();
    executions.insert(endedRow('e1'));
    const waiting = committed();
    expect(executions.count({})).toBe(1);
    await waiting;
  });
});

describe('a full disk', () => {
  const bigJson = JSON.stringify('x'.repeat(400_000));

  it('rejects with storage-full, keeps reading, keeps the writes and commits them when there is room', async () => {
    const errors: HotcellError[] = [];
    const { executions, kv, committed } = temporaryStore({
      maxDatabaseBytes: 1_000_000,
      onWriteError: (error) => errors.push(error),
    });
    executions.insert(endedRow('e1'));
    await committed();
    kv.set('p', 'o', 'filler', 'y'.repeat(600_000), 1e9);
    executions.insert(pendingRow('e2', { argumentsJson: bigJson }));
    await expect(committed()).rejects.toMatchObject({ code: 'storage-full', status: 507 });
    expect(executions.count({})).toBe(1);
    expect(executions.get('e2')?.status).toBe('pending');
    expect(() => kv.set('p', 'o', 'more', 'y'.repeat(600_000), 1e9)).toThrow(expect.objectContaining({ code: 'storage-full' }));
    executions.update(endedRow('e2', { argumentsJson: bigJson }));
    await expect(committed()).rejects.toMatchObject({ code: 'storage-full' });
    expect(errors.every((error) => error.code === 'storage-full')).toBe(true);

    kv.delete('p', 'o', 'filler');
    await expect.poll(() => executions.count({}), { timeout: 5000 }).toBe(2);
    expect(executions.get('e2')?.status).toBe('success');
    await committed();
  });

  it('says at the stop what is lost', async () => {
    const errors: string[] = [];
    const store = temporaryStore({ maxDatabaseBytes: 400_000, onWriteError: (error) => errors.push(error.message) });
    store.executions.insert(endedRow('e1', { outputJson: bigJson }));
    await expect(store.committed()).rejects.toMatchObject({ code: 'storage-full' });
    store.close();
    expect(errors.at(-1)).toBe('1 records were lost at the stop of the store.');
    store.executions.insert(endedRow('e2'));
    expect(errors.at(-1)).toContain('after the stop');
  });
});
