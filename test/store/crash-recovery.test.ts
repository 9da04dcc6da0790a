import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEventLog } from '../../src/events/event-log.ts';
import { openStore } from '../../src/store/open.ts';
import { temporaryDir } from './temporary-store.ts';

const writer = fileURLToPath(new URL('write-until-killed.ts', import.meta.url));

interface Writer {
  readonly child: ChildProcess;
  readonly errors: () => string;
  /** Everything that was said so far, by its first word. */
  readonly said: (word: string) => string[];
  readonly heard: (lines: number) => Promise<void>;
}

function startWriter(dataDir: string): Writer {
  const child = spawn(process.execPath, [writer, dataDir], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  // The last line may be cut by the kill.
  const lines = () => output.split('\n').slice(0, -1);
  return {
    child,
    errors: () => errors,
    said: (word) => lines().flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : [])),
    async heard(wanted) {
      while (lines().length < wanted) {
        if (child.exitCode !== null) throw new Error(`The writer ended: ${errors}`);
        await once(child.stdout, 'data');
      }
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

describe('a store whose process was killed', () => {
  it('has every acknowledged row, opens at once and turns the unfinished into errors', async () => {
    const dataDir = temporaryDir();
    const ended = new Set<string>();
    const pending = new Set<string>();
    let newestSeq = 0;
    for (let round = 0; round < 5; round++) {
      const { child, errors, heard, said } = startWriter(dataDir);
      await heard(50 + Math.floor(Math.random() * 2000));
      await kill(child);
      expect(errors()).toBe('');
      for (const id of said('ended')) ended.add(id);
      for (const id of said('pending')) pending.add(id);
      const seqs = said('event').map(Number);
      expect(Math.min(...seqs)).toBeGreaterThan(newestSeq);
      newestSeq = Math.max(...seqs);

      const store = openStore({ dataDir });
      const states = new Map(store.executions.list({ limit: 1e6 }).map((row) => [row.id, row.status]));
      expect([...ended].filter((id) => states.get(id) !== 'success')).toEqual([]);
      expect([...pending].filter((id) => !states.has(id))).toEqual([]);
      const unfinished = [...states.values()].filter((status) => status === 'pending').length;
      expect(store.executions.interruptUnfinished('{}', 5000)).toBe(unfinished);
      expect(store.executions.count({ status: 'pending' })).toBe(0);
      for (const id of store.executions.list({ status: 'error', limit: 1e6 }).map((row) => row.id)) pending.delete(id);
      expect(createEventLog({ store, now: Date.now }).lastSeq()).toBeGreaterThanOrEqual(newestSeq);
      store.close();
    }
  });
});

describe('a store that another process holds', () => {
  it('is refused with the pid, until that process is gone', async () => {
    const dataDir = temporaryDir();
    const { child, heard } = startWriter(dataDir);
    await heard(1);
    expect(() => openStore({ dataDir })).toThrow(
      expect.objectContaining({
        code: 'conflict',
        message: `Another hotcell (pid ${child.pid}) uses the data directory ${dataDir}.`,
      }),
    );
    await kill(child);
    openStore({ dataDir }).close();
  });
});
