import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { firstSteps } from '../../src/store/migrations/first-steps.ts';
import { laterSteps } from '../../src/store/migrations/later-steps.ts';
import { migrate } from '../../src/store/migrations.ts';
import { createGenerationTable, type GenerationRow } from '../../src/store/tables/plugins/generations.ts';
import type { PluginRow } from '../../src/store/tables/plugins/plugins.ts';
import { endedRow } from './rows.ts';
import { temporaryStore } from './temporary-store.ts';

describe('recordings', () => {
  it('keeps the newest successful ones of a tool and all failed ones', () => {
    const { recordings, executions } = temporaryStore();
    for (let n = 10; n < 18; n++) {
      executions.insert(endedRow(`e${n}`));
      const status = n === 11 ? 'error' : 'success';
      recordings.insert({
        executionId: `e${n}`,
        tool: n === 10 ? 'other' : 'weather',
        status,
        blob: new Uint8Array([n]),
        createdAtMs: n,
      });
      recordings.pruneSuccessful('weather', 2);
    }
    const kept = Array.from({ length: 8 }, (_, index) => recordings.get(`e${index + 10}`)?.[0]);
    expect(kept).toEqual([10, 11, undefined, undefined, undefined, undefined, 16, 17]);
  });
});

describe('idempotency', () => {
  const claim = { caller: 'ann', tool: 'pay', key: 'k', argumentsHash: 'h1', executionId: 'e1', atMs: 100 };

  it('is claimed once per caller, tool and key, and names the earlier execution', () => {
    const { idempotency } = temporaryStore();
    expect(idempotency.claim(claim)).toEqual({ claimed: true });
    expect(idempotency.claim({ ...claim, argumentsHash: 'h2', executionId: 'e2' })).toEqual({
      claimed: false,
      argumentsHash: 'h1',
      executionId: 'e1',
    });
    expect(idempotency.claim({ ...claim, caller: 'bob' }).claimed).toBe(true);
    expect(idempotency.claim({ ...claim, tool: 'refund' }).claimed).toBe(true);
  });

  it('is free again after release and after its time', () => {
    const { idempotency } = temporaryStore();
    idempotency.claim(claim);
    idempotency.release('ann', 'pay', 'k');
    expect(idempotency.claim({ ...claim, atMs: 200 }).claimed).toBe(true);
    idempotency.prune(200);
    expect(idempotency.claim(claim).claimed).toBe(false);
    idempotency.prune(201);
    expect(idempotency.claim(claim).claimed).toBe(true);
  });
});

describe('events', () => {
  it('are kept up to a number, and of these as many as fit', () => {
    const { events } = temporaryStore();
    const row = { type: 'daemon-stop', atMs: 1, caller: null, subject: 's', dataJson: 'x'.repeat(1000) };
    for (let seq = 1; seq <= 20; seq++) events.insert({ ...row, seq });
    const seqs = () => events.listAfter(0, { limit: 100 }).map(({ seq }) => seq);
    events.prune(10, 100_000);
    expect(seqs()).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    events.prune(10, 3500);
    expect(seqs()).toEqual([18, 19, 20]);
    events.prune(10, 10);
    expect(seqs()).toEqual([]);
    expect(events.lastSeq()).toBe(0);
  });
});

describe('kv', () => {
  it('keeps values per plugin and owner', () => {
    const { kv } = temporaryStore();
    expect(kv.set('p', 'ann', 'k', 'v', 100)).toBe(true);
    expect(kv.get('p', 'ann', 'k')).toBe('v');
    expect(kv.get('p', 'bob', 'k')).toBeUndefined();
    expect(kv.get('q', 'ann', 'k')).toBeUndefined();
    expect(kv.delete('p', 'bob', 'k')).toBe(false);
    expect(kv.delete('p', 'ann', 'k')).toBe(true);
    expect(kv.usedBytes('p', 'ann')).toBe(0);
  });

  it('counts bytes of UTF-8 and writes nothing beyond the quota', () => {
    const { kv } = temporaryStore();
    expect(kv.set('p', 'ann', 'ü', '💥', 6)).toBe(true);
    expect(kv.usedBytes('p', 'ann')).toBe(6);
    expect(kv.set('p', 'ann', 'ü', '💥💥', 9)).toBe(false);
    expect(kv.get('p', 'ann', 'ü')).toBe('💥');
    expect(kv.set('p', 'ann', 'ü', 'abcd', 6)).toBe(true);
    expect(kv.set('p', 'ann', 'x', '', 6)).toBe(false);
    expect(kv.set('p', 'bob', 'x', 'yyyyy', 6)).toBe(true);
    expect(kv.usedBytes('p', 'ann')).toBe(6);
  });

  it('lists keys with a prefix, in order and in pages', () => {
    const { kv } = temporaryStore();
    for (const key of ['b:2', 'a', 'b:1', 'b', 'c', 'b:10', 'B:1', 'b:%']) kv.set('p', 'ann', key, `v ${key}`, 1000);
    const keys = (query: Parameters<typeof kv.list>[2]) => kv.list('p', 'ann', query).map((entry) => entry.key);
    expect(keys({ prefix: 'b:', limit: 9 })).toEqual(['b:%', 'b:1', 'b:10', 'b:2']);
    expect(keys({ prefix: 'b:', after: 'b:1', limit: 1 })).toEqual(['b:10']);
    expect(keys({ prefix: '', limit: 3 })).toEqual(['B:1', 'a', 'b']);
    expect(kv.list('p', 'ann', { prefix: 'c', limit: 9 })).toEqual([{ key: 'c', value: 'v c' }]);
  });
});

describe('keys', () => {
  const key = {
    id: 'k1',
    name: 'ci',
    role: 'caller',
    secretHash: 'abc',
    createdAtMs: 1,
    lastUsedAtMs: null,
    revokedAtMs: null,
    rulesJson: '{}',
    madeBy: 'local',
    toolOwnersJson: '{"greet":"/plugins/greet.ts"}',
  } as const;

  it('is kept as it was made, touched and revoked once', () => {
    const { keys } = temporaryStore();
    keys.insert(key);
    expect(keys.list()).toEqual([key]);
    keys.touch('k1', 61_500);
    expect(keys.list()).toEqual([{ ...key, lastUsedAtMs: 61_500 }]);
    expect(keys.revoke('k1', 70_000)).toBe(true);
    expect(keys.revoke('k1', 80_000)).toBe(false);
    expect(keys.list()).toEqual([{ ...key, lastUsedAtMs: 61_500, revokedAtMs: 70_000 }]);
  });
});

describe('plugins and generations', () => {
  const stepsBeforeAnyEngine = [...firstSteps, ...laterSteps].findIndex((step) => step.includes('generations_of_any_engine'));
  const generation: GenerationRow = {
    id: 'g1',
    pluginPath: '/p/weather.ts',
    number: 1,
    author: 'operator',
    engine: 'quickjs',
    contentHash: 'c',
    codeHash: 'd',
    imageHash: null,
    imageFingerprint: null,
    manifestJson: '{}',
    inputsJson: '[]',
    createdAtMs: 5,
    writtenBy: null,
  };
  const plugin: PluginRow = {
    path: '/p/weather.ts',
    name: 'weather',
    state: 'ready',
    enabled: true,
    currentGeneration: 'g2',
    pinnedAwayFrom: null,
    diagnosticJson: null,
    transitionsJson: '[]',
  };

  it('takes over generations of before any engine could stand in them', () => {
    const database = new DatabaseSync(':memory:');
    const oldSteps = [...firstSteps, ...laterSteps].slice(0, stepsBeforeAnyEngine);
    for (const step of oldSteps) database.exec(step);
    database.exec(`pragma user_version = ${oldSteps.length}`);
    createGenerationTable(database).upsert({ ...generation, writtenBy: 'ann' });
    expect(() => createGenerationTable(database).upsert({ ...generation, id: 'g2', number: 2, engine: 'another' })).toThrow();
    migrate(database);
    const generations = createGenerationTable(database);
    generations.upsert({ ...generation, id: 'g2', number: 2, engine: 'another' });
    expect(generations.listOf(generation.pluginPath)).toMatchObject([
      { id: 'g2', engine: 'another' },
      { ...generation, writtenBy: 'ann' },
    ]);
    database.close();
  });

  it('gives back generations newest first and the current one of every plugin', () => {
    const { generations, plugins } = temporaryStore();
    const newer = { ...generation, id: 'g2', number: 2 };
    generations.upsert(generation);
    generations.upsert(newer);
    generations.upsert({ ...generation, imageHash: 'i', imageFingerprint: 'f' });
    plugins.upsert({ ...plugin, currentGeneration: 'g1' });
    plugins.upsert(plugin);
    plugins.upsert({ ...plugin, path: '/p/broken.ts', name: 'broken', state: 'failed', currentGeneration: null });
    expect(generations.listOf('/p/weather.ts')).toEqual([newer, { ...generation, imageHash: 'i', imageFingerprint: 'f' }]);
    expect(generations.listCurrent()).toEqual([newer]);
    expect(plugins.list()).toContainEqual(plugin);
    expect(plugins.list().map((row) => row.name)).toEqual(['broken', 'weather']);
    generations.delete('g2');
    plugins.delete('/p/broken.ts');
    expect(generations.get('g2')).toBeUndefined();
    expect(plugins.list()).toContainEqual(plugin);
  });

  it('refuses two generations of a plugin with one number, and unknown words', () => {
    const { generations, plugins } = temporaryStore();
    generations.upsert(generation);
    expect(() => generations.upsert({ ...generation, id: 'g9' })).toThrow(expect.objectContaining({ code: 'storage-failed' }));
    expect(() => generations.upsert({ ...generation, id: 'g9', number: 9, author: 'nobody' })).toThrow();
    expect(() => plugins.upsert({ ...plugin, state: 'sleepy' })).toThrow();
  });
});
