import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { Journal } from '../../src/store/journal.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store-types.ts';
import { endedRow, pendingRow } from './rows.ts';
import { copyAsLeft, temporaryDir } from './temporary-store.ts';

function open(dataDir: string): Store {
  const store = openStore({ dataDir });
  onTestFinished(() => store.close());
  return store;
}

/** What a kill would leave now, opened by the next process. */
function openAsLeft(dataDir: string, damage?: (journal: string) => void): Store {
  const copy = copyAsLeft(dataDir);
  damage?.(join(copy, 'hotcell.journal'));
  return open(copy);
}

/** Returns what takes it back. */
function makeAppendOnly(file: string, context: TestContext): () => void {
  const set = (sign: string) => spawnSync('chattr', [`${sign}a`, file]).status === 0;
  if (!set('+')) context.skip('No file can be made for appending alone here.');
  onTestFinished(() => void set('-'));
  return () => void set('-');
}

const event = { type: 'execution-end', atMs: 1, caller: null, subject: 's', dataJson: '{}' };

describe('the journal of a store', () => {
  it('has what was acknowledged before the next transaction, in its latest state, as long as that is not in the database', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    const journal = join(dataDir, 'hotcell.journal');
    store.executions.insert(pendingRow('e0'));
    store.executions.insert(pendingRow('e1'));
    store.executions.update(endedRow('e1', { outputJson: '"€ first"' }));
    store.events.insert({ ...event, seq: 7 });
    await store.committedEnds();
    expect(readFileSync(journal, 'utf8').split('\n')).toHaveLength(3);
    const left = openAsLeft(dataDir);
    expect(left.executions.get('e1')).toEqual(store.executions.get('e1'));
    expect(left.executions.get('e0')).toBeUndefined();
    expect(left.events.listAfter(0, { limit: 9 })).toEqual([{ ...event, seq: 7 }]);

    store.executions.update(endedRow('e1', { outputJson: '"second"' }));
    await store.committedEnds();
    expect(openAsLeft(dataDir).executions.get('e1')?.outputJson).toBe('"second"');
    await store.committed();
    expect(statSync(journal).size).toBe(0);
  });

  it('has a call with a key from its acceptance on, and is not emptied before the database has it', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    const row = { ...pendingRow('e1', { idempotencyKey: 'k' }) };
    store.executions.insert(row);
    await store.committedEnds();
    Object.assign(row, { status: 'running', startedAtMs: 1001 });
    store.executions.update(row);
    store.executions.insert(endedRow('e2'));
    await store.committedEnds();
    await expect.poll(() => statSync(join(dataDir, 'hotcell.journal')).size, { interval: 1 }).toBe(0);
    const left = openAsLeft(dataDir);
    expect(left.executions.interruptUnfinished('{}', 1)).toBe(1);
    expect(left.executions.get('e1')).toMatchObject({ status: 'error', idempotencyKey: 'k' });
  });

  it('is written into the database once more where a kill came between that and its end', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    store.executions.insert(endedRow('e1'));
    store.events.insert({ ...event, seq: 7 });
    await store.committedEnds();
    const lines = readFileSync(join(dataDir, 'hotcell.journal'));
    await store.committed();
    const left = openAsLeft(dataDir, (journal) => appendFileSync(journal, lines));
    expect(left.executions.count({})).toBe(1);
    expect(left.events.listAfter(0, { limit: 9 })).toHaveLength(1);
  });

  it('takes what is acknowledged after a first line that was cut short', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    store.executions.insert(endedRow('e1'));
    await store.committedEnds();
    let journal = '';
    const left = openAsLeft(dataDir, (file) => {
      journal = file;
      truncateSync(file, statSync(file).size - 5);
    });
    left.executions.insert(endedRow('e2'));
    await left.committedEnds();
    expect(openAsLeft(dirname(journal)).executions.get('e2')?.status).toBe('success');
  });

  it('goes on after a row that the database refuses', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    store.events.insert({ ...event, seq: 0 });
    store.executions.insert(endedRow('e1'));
    await store.committedEnds();
    expect(openAsLeft(dataDir).executions.get('e1')?.status).toBe('success');
  });

  it('waits while there is no room for it in the database, and no row of it is given up for others', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    const outputJson = JSON.stringify('x'.repeat(15_000));
    for (let n = 0; n < 40; n++) store.executions.insert(endedRow(`e${n}`, { outputJson }));
    const claim = { caller: 'local', tool: 't', key: 'k', argumentsHash: 'h', executionId: 'e39', atMs: 1 };
    store.idempotency.claim(claim);
    await store.committedEnds();
    const copy = copyAsLeft(dataDir);
    const lost: string[] = [];
    const full = openStore({ dataDir: copy, maxDatabaseBytes: 600_000, onWriteError: ({ message }) => lost.push(message) });
    expect(full.problem()?.code).toBe('storage-full');
    expect(full.executions.interruptUnfinished('{}', 1)).toBe(0);
    for (let seq = 1; seq <= 20_100; seq++) full.events.insert({ ...event, seq });
    await expect(full.committed()).rejects.toMatchObject({ code: 'storage-full' });
    full.close();
    expect(lost.length).toBeGreaterThan(0);
    const again = open(copy);
    expect(again.executions.count({})).toBe(40);
    expect(again.idempotency.claim(claim)).toMatchObject({ claimed: false, executionId: 'e39' });
  });

  it('is still there when room comes after so many writes that some were given up', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    store.kv.set('p', 'o', 'filler', 'y'.repeat(5_000_000), 1e9);
    const outputJson = JSON.stringify('x'.repeat(15_000));
    for (let n = 0; n < 40; n++) store.executions.insert(endedRow(`e${n}`, { outputJson }));
    await store.committedEnds();
    const copy = copyAsLeft(dataDir);
    const lost: string[] = [];
    const full = openStore({ dataDir: copy, maxDatabaseBytes: 5_600_000, onWriteError: ({ message }) => lost.push(message) });
    onTestFinished(() => full.close());
    expect(full.problem()?.code).toBe('storage-full');
    for (let seq = 1; seq <= 20_100; seq++) full.events.insert({ ...event, dataJson: '', seq });
    await expect(full.committed()).rejects.toMatchObject({ code: 'storage-full' });
    await expect.poll(() => lost.at(-1), { timeout: 20_000 }).toMatch(/^\d+ records were lost/);
    full.kv.delete('p', 'o', 'filler');
    full.events.insert({ ...event, dataJson: '', seq: 20_101 });
    await expect.poll(() => full.executions.get('e0')?.status, { timeout: 20_000 }).toBe('success');
    expect(full.executions.get('e39')?.status).toBe('success');
  });

  it('of an older version lacks the columns that came since', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    store.executions.insert(endedRow('e1'));
    await store.committedEnds();
    const left = openAsLeft(dataDir, (journal) => {
      const entry: unknown[] = JSON.parse(readFileSync(journal, 'utf8'));
      writeFileSync(journal, `${JSON.stringify(entry.slice(0, -2))}\n`);
    });
    expect(left.executions.get('e1')).toEqual(endedRow('e1'));
  });

  it.each([
    ['a link to another file', (journal: string, other: string) => symlinkSync(other, journal)],
    ['a second name of another file', (journal: string, other: string) => linkSync(other, journal)],
    ['a link to nowhere', (journal: string, other: string) => symlinkSync(`${other}.none`, journal)],
    ['a folder', (journal: string) => mkdirSync(journal)],
    ['a pipe', (journal: string) => void spawnSync('mkfifo', [journal])],
  ])('is not opened where %s has its name, and that stays as it is', (_what, put) => {
    const dataDir = temporaryDir();
    open(dataDir).close();
    const other = join(temporaryDir(), 'other');
    writeFileSync(other, 'precious\n');
    const journal = join(dataDir, 'hotcell.journal');
    rmSync(journal);
    put(journal, other);
    expect(() => openStore({ dataDir })).toThrow(expect.objectContaining({ code: 'storage-failed' }));
    expect([readFileSync(other, 'utf8'), existsSync(`${other}.none`)]).toEqual(['precious\n', false]);
  });

  it('is not read where it cannot be emptied: the next start would write it over what came since', async (context) => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    store.executions.insert(endedRow('e1'));
    await store.committedEnds();
    const copy = copyAsLeft(dataDir);
    const journal = join(copy, 'hotcell.journal');
    const release = makeAppendOnly(journal, context);
    expect(() => openStore({ dataDir: copy })).toThrow(expect.objectContaining({ code: 'storage-failed' }));
    release();
    expect(open(copy).executions.get('e1')?.status).toBe('success');
  });

  it.each([
    ['is cut short', '["executions","e2","wea'],
    ['is no entry', '{"executions":1}\n'],
    ['has too few values', '["executions","e2"]\n'],
    ['has values of another type', '["events","seven","execution-end",1,null,"s","{}"]\n'],
  ])('ends at a line that %s', async (_what, line) => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    store.executions.insert(endedRow('e1'));
    await store.committedEnds();
    const left = openAsLeft(dataDir, (journal) => appendFileSync(journal, line));
    expect(left.executions.count({})).toBe(1);
    left.executions.insert(endedRow('e3'));
    await left.committedEnds();
    expect(left.executions.count({})).toBe(2);
  });

  it('is not for long rows', async () => {
    const dataDir = temporaryDir();
    const store = open(dataDir);
    store.executions.insert(endedRow('e1', { outputJson: JSON.stringify('x'.repeat(100_000)) }));
    await store.committedEnds();
    expect(statSync(join(dataDir, 'hotcell.journal')).size).toBe(0);
    expect(openAsLeft(dataDir).executions.count({})).toBe(1);
  });
});

const appending = `
  import { Journal } from '${new URL('../../src/store/journal.ts', import.meta.url).href}';
  const journal = new Journal(process.argv[1]);
  console.log(JSON.stringify([300, 900, 100].map((chars) => journal.append([['events', 'x'.repeat(chars)]]))));
`;

describe('append', () => {
  it('leaves nothing of what fitted in half', () => {
    const path = join(temporaryDir(), 'journal');
    // One block of 512 bytes, in a shell that counts in kilobytes one of 1024.
    const limited = ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', appending, path];
    const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
    expect([stdout.trim(), stderr]).toEqual(['[true,false,true]', '']);
    expect(new Journal(path).readLeft().map(([, text]) => String(text).length)).toEqual([300, 100]);
  });

  it('says when the disk takes no more', () => {
    const path = join(temporaryDir(), 'journal');
    const journal = new Journal(path);
    expect(journal.append([['events', 1]])).toBe(true);
    journal.close();
    expect([journal.append([['events', 2]]), journal.append([['events', 3]]), journal.clear()]).toEqual([false, false, false]);
    expect(readFileSync(path, 'utf8')).toBe('["events",1]\n');
  });

  it('takes nothing while it cannot be emptied', (context) => {
    const path = join(temporaryDir(), 'journal');
    const journal = new Journal(path);
    onTestFinished(() => journal.close());
    journal.append([['events', 1]]);
    const release = makeAppendOnly(path, context);
    expect([journal.clear(), journal.append([['events', 2]])]).toEqual([false, false]);
    release();
    expect(journal.append([['events', 3]])).toBe(true);
    expect(journal.readLeft()).toEqual([['events', 3]]);
  });

  it('takes no more than some megabytes until it is cleared', () => {
    const journal = new Journal(join(temporaryDir(), 'journal'));
    onTestFinished(() => journal.close());
    const entries = [['events', 'x'.repeat(3_000_000)]] as const;
    expect([journal.append(entries), journal.append(entries), journal.append(entries)]).toEqual([true, true, false]);
    journal.clear();
    expect(journal.append(entries)).toBe(true);
  });
});
