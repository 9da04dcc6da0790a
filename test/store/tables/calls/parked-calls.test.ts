import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/store/open.ts';
import type { Store } from '../../../../src/store/store-types.ts';
import type { ExecutionRow } from '../../../../src/store/tables/calls/executions.ts';

let dataDir: string;
let store: Store;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hotcell-parked-'));
  store = openStore({ dataDir });
});
afterEach(() => {
  store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const execution = (id: string): ExecutionRow => ({
  id,
  tool: 'ask',
  version: '1.0.0',
  plugin: 'ask',
  generation: 'gen_1',
  caller: 'ann',
  session: 'default',
  status: 'running',
  argumentsJson: '{}',
  outputJson: null,
  errorJson: null,
  warningsJson: null,
  createdAtMs: 1,
  startedAtMs: 2,
  endedAtMs: null,
  durationMs: null,
  attempts: 1,
  idempotencyKey: null,
  parent: null,
  engine: 'quickjs',
  cutJson: null,
});

const parked = (executionId: string, blob: Uint8Array | null = Buffer.from('memory')) => ({
  executionId,
  factsJson: '{"version":1}',
  blob,
  parkedAtMs: 3,
});

describe('createParkedCallTable', () => {
  it('keeps a call with its record, which no start of the daemon ends', () => {
    store.executions.insert(execution('exe_1'));
    store.executions.insert(execution('exe_2'));
    store.parkedCalls.put(parked('exe_1'));
    expect(store.executions.interruptUnfinished('{}', 9)).toBe(1);
    expect(store.executions.get('exe_1')?.status).toBe('running');
    expect(store.executions.get('exe_2')?.status).toBe('error');
    store.close();
    store = openStore({ dataDir });
    expect(store.parkedCalls.list()).toEqual([{ executionId: 'exe_1', factsJson: '{"version":1}' }]);
    expect(Buffer.from(store.parkedCalls.readBlob('exe_1') ?? []).toString()).toBe('memory');
  });

  it('replaces what was kept before, and removes it', async () => {
    store.parkedCalls.put(parked('exe_1'));
    store.parkedCalls.put(parked('exe_1', Buffer.from('later')));
    expect(Buffer.from(store.parkedCalls.readBlob('exe_1') ?? []).toString()).toBe('later');
    store.parkedCalls.removeNow('exe_1');
    expect(store.parkedCalls.list()).toEqual([]);
    store.parkedCalls.put(parked('exe_2', null));
    expect(store.parkedCalls.readBlob('exe_2')).toBeUndefined();
    store.parkedCalls.remove('exe_2');
    await store.committed();
    expect(store.parkedCalls.list()).toEqual([]);
  });
});
