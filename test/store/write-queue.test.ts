import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HotcellError } from '../../src/errors/hotcell-error.ts';
import { createWriteQueue } from '../../src/store/write-queue.ts';
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

describe('createWriteQueue', () => {
  function countingQueue(journal?: Parameters<typeof createWriteQueue>[2]) {
    const counts = { commits: 0, applied: 0 };
    const queue = createWriteQueue(
      new DatabaseSync(':memory:'),
      {
        onWriteError: (error) => expect.unreachable(error.message),
        onFailure: (error) => expect.unreachable(error.message),
        onCommit: () => counts.commits++,
        makeRoom: () => false,
      },
      journal,
    );
    onTestFinished(() => queue.close());
    const write = { apply: () => void counts.applied++ };
    return { queue, counts, write };
  }

  it('commits for a single waiter within the turn, and once for all that wait in one turn after it', async () => {
    const { queue, counts, write } = countingQueue();
    queue.add(write);
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    await queue.committedEnds();
    expect([counts.commits, hasTurned]).toEqual([1, false]);
    queue.add(write);
    const second = queue.committedEnds();
    await Promise.resolve();
    expect(counts.commits).toBe(1);
    queue.add(write);
    await Promise.all([second, queue.committedEnds()]);
    expect(counts).toEqual({ commits: 2, applied: 3 });
  });

  it('answers when the journal has all of it, and after a transaction where the journal does not take it', async () => {
    const kept: unknown[] = [];
    let hasRoom = true;
    const append = (entries: readonly unknown[]) => hasRoom && kept.push(...entries) > 0;
    const { queue, counts, write } = countingQueue({ append, clear: () => kept.splice(0).length >= 0 });
    const noted = { ...write, entry: () => ['events', 1] as const };
    queue.add(noted);
    await queue.committedEnds();
    expect([kept.length, counts.commits]).toEqual([1, 0]);
    hasRoom = false;
    queue.add(noted);
    await queue.committedEnds();
    expect([kept.length, counts]).toEqual([0, { commits: 1, applied: 2 }]);
    hasRoom = true;
    queue.add(noted);
    queue.add(write);
    await queue.committedEnds();
    expect([kept.length, counts]).toEqual([0, { commits: 2, applied: 4 }]);
    queue.add(noted);
    await queue.committed();
    expect([kept.length, counts]).toEqual([0, { commits: 3, applied: 5 }]);
  });

  it('puts into the journal what has ended since, also after a transaction in between', async () => {
    const kept: unknown[] = [];
    const { queue, write } = countingQueue({ append: (entries) => kept.push(...entries) > 0, clear: () => true });
    const begin = (name: string) => {
      let isOver = false;
      queue.add({ ...write, entry: () => [name], canWait: () => !isOver });
      return () => {
        isOver = true;
      };
    };
    const end = [begin('first'), begin('second')];
    queue.add({ ...write, entry: () => ['other'] });
    await queue.committedEnds();
    end[0]?.();
    await queue.committedEnds();
    expect(kept).toEqual([['other'], ['first']]);
    queue.add(write);
    await queue.committedEnds();
    end[1]?.();
    await queue.committedEnds();
    expect(kept).toEqual([['other'], ['first'], ['second']]);
  });

  it('leaves what may still change for a while, but not for ever, and not for whoever waits for all', async () => {
    const { queue, counts, write } = countingQueue();
    const begun = Promise.withResolvers<void>();
    let applied = 0;
    const apply = () => void applied++;
    queue.add({ apply, canWait: () => true, settle: begun.resolve });
    queue.add(write);
    await queue.committedEnds();
    expect([counts.applied, applied]).toEqual([1, 0]);
    await begun.promise;
    expect(applied).toBe(1);
    queue.add({ apply, canWait: () => true });
    await queue.committed();
    expect(applied).toBe(2);
  });
});

describe('a full disk', () => {
  const bigJson = JSON.stringify('x'.repeat(400_000));

  it('rejects with storage-full, keeps reading, keeps the writes and commits them when there is room', async () => {
    const errors: HotcellError[] = [];
    const { executions, kv, committed, committedEnds } = temporaryStore({
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
    executions.insert(endedRow('e3'));
    await expect(committedEnds()).rejects.toMatchObject({ code: 'storage-full' });
    executions.update(endedRow('e2', { argumentsJson: bigJson }));
    await expect(committed()).rejects.toMatchObject({ code: 'storage-full' });
    expect(errors.every((error) => error.code === 'storage-full')).toBe(true);

    kv.delete('p', 'o', 'filler');
    await expect.poll(() => executions.count({}), { timeout: 5000 }).toBe(3);
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
