import { describe, expect, it } from 'vitest';
import { endedRow, pendingRow } from '../../rows.ts';
import { temporaryStore } from '../../temporary-store.ts';

describe('executions', () => {
  it('gives a row back as it was written, queued and committed', async () => {
    const { executions, committed } = temporaryStore();
    const row = endedRow('e1', { argumentsJson: '"zero \\u0000 and 💥"', outputJson: 'a\u0000b💥', idempotencyKey: 'k' });
    executions.insert(row);
    expect(executions.get('e1')).toEqual(row);
    await committed();
    expect(executions.get('e1')).toEqual(row);
    expect(executions.get('e2')).toBeUndefined();
  });

  it('keeps the last state, whether the insert was committed or not', async () => {
    const { executions, committed } = temporaryStore();
    executions.insert(pendingRow('e1'));
    executions.update(pendingRow('e1', { status: 'running', startedAtMs: 1001 }));
    await committed();
    expect(executions.get('e1')?.status).toBe('running');
    executions.update(endedRow('e1', { status: 'timeout', errorJson: '{}' }));
    executions.update(endedRow('e1', { status: 'error', errorJson: '{"code":"x"}' }));
    await committed();
    expect(executions.get('e1')).toEqual(endedRow('e1', { status: 'error', errorJson: '{"code":"x"}' }));
    expect(executions.count({})).toBe(1);
  });

  it('writes a row whose insert never came', () => {
    const { executions } = temporaryStore();
    executions.update(endedRow('e1'));
    expect(executions.list({ limit: 9 })).toEqual([endedRow('e1')]);
  });

  it('lists newest first, filtered, in pages, and counts alike', () => {
    const { executions } = temporaryStore();
    for (let n = 10; n < 20; n++) {
      const error = { status: 'error', errorJson: '{}' } as const;
      executions.insert(
        endedRow(`e${n}`, { caller: n % 2 ? 'ann' : 'bob', tool: n < 15 ? 'a' : 'b', ...(n % 5 === 0 ? error : {}) }),
      );
    }
    const ids = (query: Parameters<typeof executions.list>[0]) => executions.list(query).map((row) => row.id);
    expect(ids({ limit: 3 })).toEqual(['e19', 'e18', 'e17']);
    expect(ids({ limit: 3, before: 'e17' })).toEqual(['e16', 'e15', 'e14']);
    expect(ids({ limit: 9, caller: 'ann', tool: 'a' })).toEqual(['e13', 'e11']);
    expect(ids({ limit: 9, status: 'error' })).toEqual(['e15', 'e10']);
    expect(ids({ limit: 9, status: 'success', caller: 'bob', tool: 'b' })).toEqual(['e18', 'e16']);
    expect(ids({ limit: 9, status: `x' or 1=1 --` })).toEqual([]);
    expect(executions.count({ caller: 'ann' })).toBe(5);
    expect(executions.count({ status: 'error', caller: 'bob' })).toBe(1);
  });

  it('turns what was unfinished into errors and frees keys whose execution was never written', () => {
    const { executions, idempotency } = temporaryStore();
    const claim = { caller: 'local', tool: 'weather', argumentsHash: 'h', atMs: 1 };
    executions.insert(pendingRow('e1', { createdAtMs: 1000 }));
    executions.insert(pendingRow('e2', { status: 'running', startedAtMs: 1500 }));
    executions.insert(endedRow('e3'));
    idempotency.claim({ ...claim, key: 'written', executionId: 'e1' });
    idempotency.claim({ ...claim, key: 'lost', executionId: 'never' });
    expect(executions.interruptUnfinished('{"code":"interrupted"}', 2000)).toBe(2);
    expect(executions.get('e1')).toMatchObject({
      status: 'error',
      endedAtMs: 2000,
      durationMs: 1000,
      errorJson: '{"code":"interrupted"}',
    });
    expect(executions.get('e2')).toMatchObject({ status: 'error', durationMs: 500 });
    expect(executions.get('e3')).toEqual(endedRow('e3'));
    expect(idempotency.claim({ ...claim, key: 'written', executionId: 'e9' }).claimed).toBe(false);
    expect(idempotency.claim({ ...claim, key: 'lost', executionId: 'e9' }).claimed).toBe(true);
    expect(executions.interruptUnfinished('{}', 3000)).toBe(0);
  });

  it('keeps the newest, those that run and those that a key names, and the recordings of these', () => {
    const { executions, idempotency, recordings } = temporaryStore();
    for (let n = 10; n < 20; n++) {
      const id = `e${n}`;
      executions.insert(n === 11 ? pendingRow(id) : endedRow(id));
      recordings.insert({ executionId: id, tool: 'weather', status: 'error', blob: new Uint8Array([n]), createdAtMs: 1 });
    }
    idempotency.claim({ caller: 'local', tool: 'weather', key: 'k', argumentsHash: 'h', executionId: 'e12', atMs: 1 });
    executions.prune(5, 1e12);
    expect(executions.list({ limit: 99 }).map((row) => row.id)).toEqual(['e19', 'e18', 'e17', 'e16', 'e15', 'e12', 'e11']);
    expect(recordings.get('e10')).toBeUndefined();
    expect(recordings.get('e12')).toEqual(new Uint8Array([12]));
    executions.prune(5, 1e12);
    expect(executions.count({})).toBe(7);
  });

  it('deletes a bounded number at a time and comes back to what a key named', () => {
    const { executions, idempotency } = temporaryStore();
    for (let n = 1000; n < 3500; n++) executions.insert(endedRow(`e${n}`));
    idempotency.claim({ caller: 'local', tool: 'weather', key: 'k', argumentsHash: 'h', executionId: 'e1000', atMs: 1 });
    const counts = Array.from({ length: 3 }, () => {
      executions.prune(100, 1e12);
      return executions.count({});
    });
    expect(counts).toEqual([1500, 500, 101]);
    idempotency.release('local', 'weather', 'k');
    for (let round = 0; round < 64; round++) executions.prune(100, 1e12);
    expect(executions.count({})).toBe(100);
  });

  it('keeps the rows of whoever has few, whatever others do, also with keys for all of it', () => {
    const { executions, idempotency } = temporaryStore();
    const insert = (caller: string, from: number, count: number) => {
      for (let n = from; n < from + count; n++) executions.insert(endedRow(`e${n}`, { caller }));
    };
    insert('quiet', 1000, 20);
    insert('loud', 2000, 300);
    for (let n = 3000; n < 3300; n++) executions.insert(endedRow(`e${n}`, { caller: `anonymous:${n}` }));
    for (let n = 2000; n < 2300; n++) {
      idempotency.claim({ caller: 'loud', tool: 't', key: `${n}`, argumentsHash: 'h', executionId: `e${n}`, atMs: 1 });
    }
    const left = () => {
      executions.prune(100, 1e12);
      return ['quiet', 'loud'].map((caller) => executions.count({ caller })).concat(executions.count({}));
    };
    expect([left(), left()]).toEqual([
      [20, 300, 360],
      [20, 300, 360],
    ]);
    expect(executions.list({ limit: 1 })[0]?.id).toBe('e3299');
    insert('loud', 4000, 50);
    insert('quiet', 5000, 30);
    expect(left()).toEqual([33, 333, 399]);
    expect(executions.list({ caller: 'quiet', limit: 99 }).map(({ id }) => id)).toEqual(
      Array.from({ length: 33 }, (_, index) => `e${index < 30 ? 5029 - index : 1019 - (index - 30)}`),
    );
  });

  it('refuses a status outside the vocabulary and says so', async () => {
    const errors: string[] = [];
    const { executions, committed } = temporaryStore({ onWriteError: (error) => errors.push(error.code) });
    executions.insert(endedRow('e1', { endedAtMs: null }));
    executions.insert(endedRow('e2'));
    await expect(committed()).rejects.toMatchObject({ code: 'internal' });
    expect(errors).toEqual(['internal']);
    expect(executions.get('e1')).toBeUndefined();
    expect(executions.get('e2')).toEqual(endedRow('e2'));
  });
});

describe('a budget of bytes', () => {
  const kib = (count: number) => JSON.stringify('x'.repeat(count * 1024));
  const nameOf = (index: number) => `e${String(index).padStart(4, '0')}`;

  it('takes the oldest of the caller who has most, with their recordings, and nothing that has not ended', async () => {
    const store = temporaryStore();
    const { executions, recordings } = store;
    executions.insert(endedRow('a', { caller: 'quiet', outputJson: kib(500) }));
    executions.insert(pendingRow('b', { caller: 'loud', argumentsJson: kib(100) }));
    for (let index = 0; index < 40; index++) {
      executions.insert(endedRow(nameOf(index), { caller: 'loud', argumentsJson: kib(50), outputJson: kib(50) }));
      recordings.insert({
        executionId: nameOf(index),
        tool: 't',
        status: 'error',
        blob: Buffer.alloc(100 * 1024),
        createdAtMs: 1,
      });
    }
    const maxBytes = 2 * 1024 * 1024;
    executions.prune(1000, maxBytes);
    await store.committed();
    expect(executions.get('a')?.status).toBe('success');
    expect(executions.get('b')?.status).toBe('pending');
    const kept = executions.list({ caller: 'loud', status: 'success', limit: 100 });
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length * 200 * 1024).toBeLessThan(maxBytes - 500 * 1024);
    expect(kept.map(({ id }) => id)).toEqual(Array.from(kept, (_, index) => nameOf(39 - index)));
    expect(recordings.get(nameOf(39))).toHaveLength(100 * 1024);
    expect(recordings.get(nameOf(0))).toBeUndefined();
  });

  it('counts everybody without a token as one, and keeps no recording of a record that went', async () => {
    const store = temporaryStore();
    store.executions.insert(endedRow('a', { caller: 'somebody', outputJson: kib(400) }));
    for (let index = 0; index < 20; index++) {
      store.executions.insert(endedRow(nameOf(index), { caller: `anonymous:${index}`, outputJson: kib(100) }));
    }
    store.executions.prune(1000, 1024 * 1024);
    store.recordings.insert({ executionId: nameOf(0), tool: 't', status: 'error', blob: Buffer.alloc(10), createdAtMs: 1 });
    await store.committed();
    expect(store.executions.get('a')).toBeDefined();
    expect(store.executions.get(nameOf(0))).toBeUndefined();
    expect(store.recordings.get(nameOf(0))).toBeUndefined();
  });
});
