import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/events/event.ts';
import { createEventLog, type EventLogOptions } from '../../src/events/event-log.ts';
import type { EventDataByType, EventType } from '../../src/events/event-table.ts';
import { rowOf } from '../../src/events/event-table.ts';
import { openStore } from '../../src/store/open.ts';
import { temporaryDir, temporaryStore } from '../store/temporary-store.ts';

// One of every type: the compiler says when a new one is missing here.
const samples: { [Type in EventType]: EventDataByType[Type] } = {
  'daemon-start': { version: '1', url: 'http://127.0.0.1:7420' },
  'daemon-stop': { reason: 'signal' },
  'plugin-change': { path: 'a.ts', state: 'ready', previousState: 'loading', reason: 'loaded', generation: 1, durationMs: 2.5 },
  'plugin-diagnostic': { path: 'a.ts', code: 'x', message: 'm', file: 'a.ts', line: 1, column: 2, codeFrame: '>', fix: 'f' },
  'plugin-removed': { path: 'a.ts', reason: 'deleted' },
  'tools-change': { added: ['a@1.0.0'], removed: [], changed: [] },
  'prompts-change': { added: ['a@1.0.0'], removed: [], changed: [] },
  'resources-change': { added: ['a@1.0.0'], removed: [], changed: [] },
  'resource-update': { uri: 'notes://all', name: 'all' },
  'execution-start': { tool: 'a', version: '1.0.0', session: 's' },
  'execution-refusal': { tool: 'a', code: 'arguments-invalid', message: 'no' },
  'execution-progress': { done: 1, total: 2, message: 'half' },
  'execution-log': { level: 'info', text: 'hello' },
  'execution-end': { tool: 'a', version: '1.0.0', status: 'error', durationMs: 1.5, code: 'handler-threw' },
  'loop-step': { step: 'call-end', round: 1, tool: 'a', executionId: 'exe_1', status: 'success' },
  'loop-end': { reason: 'answered', purpose: 'gateway', model: 'm', rounds: 2 },
  'schedule-problem': { tool: 'a', code: 'tool-unknown', message: 'gone' },
  'cell-loss': { path: 'a.ts', reason: 'memory' },
  'permission-use': { tool: 'a', permission: 'net', detail: 'api.example.com', allowed: false },
  'storage-problem': { path: '/d', message: 'full' },
  'config-change': { path: '/c.yaml', applied: ['plugins'], restart: ['port'], problem: 'wrong' },
  'grant-change': { action: 'granted', grant: 'grt_1', permissions: 'kv', scope: 'always', by: 'local' },
  'approval-request': {
    approval: 'apr_1',
    kind: 'confirm',
    reason: 'confirm',
    question: 'Send it?',
    tool: 'mail',
    execution: 'exe_1',
    expiresAtMs: 2000,
  },
  'approval-answer': { approval: 'apr_1', kind: 'confirm', status: 'approved', by: 'local', tool: 'mail', execution: 'exe_1' },
  'engine-change': { from: 'quickjs', to: 'deno', reason: 'It imports "node:fs".', path: 'plugins/x.ts' },
  'name-change': { from: '/p/pay.ts', to: '/p/cute.ts', by: 'local' },
  'setting-change': { setting: 'mode off', by: 'local' },
  'secret-change': { action: 'set', binding: 'the header x-key of requests to api.example.com', by: 'local' },
  'mcp-change': { state: 'ready', previousState: 'connecting', tools: 3, waitingTools: 0 },
  'hook-change': { state: 'active', previousState: 'new', hash: 'abc', reason: 'approved', by: 'local' },
  'hook-refusal': { tool: 'a', code: 'hook-refused', message: 'no' },
  'hook-problem': { message: 'm' },
  'repair-start': { repair: 'rep_1', path: 'a.ts', class: 'does-not-compile', message: 'm' },
  'repair-update': { repair: 'rep_1', path: 'a.ts', by: 'spelling', outcome: 'mended', note: 'n' },
  'repair-end': { repair: 'rep_1', path: 'a.ts', state: 'published', reason: 'r', generation: 2 },
  'watch-problem': { path: '/p', message: 'gone' },
};
const types = Object.keys(samples).filter((type): type is EventType => type in samples);
const fleeting: readonly string[] = ['execution-progress', 'execution-log', 'execution-refusal', 'resource-update', 'loop-step'];
const keptTypes = types.filter((type) => !fleeting.includes(type));

function openLog(options: Partial<EventLogOptions> = {}) {
  return createEventLog({ store: temporaryStore(), now: () => 1000, ...options });
}

const end = (subject: string, caller: string | null = 'ann') => ({ caller, subject, data: samples['execution-end'] });

describe('publish', () => {
  it('gives rising numbers, keeps every type and reads it back as it was told', () => {
    const log = openLog();
    const told: EventEnvelope[] = [];
    log.subscribe({}, (event) => told.push(event));
    for (const type of types) log.publish(type, { caller: 'ann', subject: 'x', data: samples[type] });
    expect(told.map((event) => event.type)).toEqual(types);
    expect(log.readAfter(0, {}, 100)).toEqual(told.filter((event) => event.seq > 0));
    expect(told.filter((event) => event.seq > 0).map((event) => event.type)).toEqual(keptTypes);
    expect(log.lastSeq()).toBe(keptTypes.length);
    expect(told[0]).toEqual({
      seq: 1,
      type: 'daemon-start',
      at: 1000,
      caller: null,
      subject: 'x',
      data: samples['daemon-start'],
    });
  });

  it('belongs to a caller only where the table says that its caller sees it', () => {
    const log = openLog();
    for (const type of types) log.publish(type, { caller: 'ann', subject: 'x', data: samples[type] });
    const own = log.readAfter(0, {}, 100).filter(({ caller }) => caller === 'ann');
    const seen = keptTypes.filter((type) => rowOf(type).seenBy === 'its-caller');
    expect(own.map(({ type }) => type)).toEqual(seen);
    expect(seen).not.toContain('plugin-diagnostic');
  });

  it('goes on when a subscriber throws, and tells it the next event too', () => {
    const thrown: unknown[] = [];
    const log = openLog({ onSubscriberError: (error) => thrown.push(error) });
    const told: string[] = [];
    log.subscribe({}, (event) => {
      throw new Error(event.subject);
    });
    log.subscribe({}, (event) => told.push(event.subject));
    log.publish('execution-end', end('e1'));
    log.publish('execution-end', end('e2'));
    expect(told).toEqual(['e1', 'e2']);
    expect(thrown).toEqual([new Error('e1'), new Error('e2')]);
  });

  it('shows everybody one order, also when a subscriber publishes', () => {
    const log = openLog();
    const told: number[] = [];
    log.subscribe({ types: ['execution-start'] }, () => log.publish('execution-end', end('e1')));
    log.subscribe({}, (event) => told.push(event.seq));
    log.publish('execution-start', { caller: 'ann', subject: 'e1', data: samples['execution-start'] });
    expect(told).toEqual([1, 2]);
  });
});

describe('subscribe', () => {
  it('shows a caller its own events and the public ones of the daemon, an admin all', () => {
    const log = openLog();
    const seen = { ann: [] as string[], admin: [] as string[], starts: [] as string[] };
    log.subscribe({ caller: 'ann' }, (event) => seen.ann.push(event.subject));
    log.subscribe({}, (event) => seen.admin.push(event.subject));
    log.subscribe({ caller: 'ann', types: ['plugin-change', 'tools-change'] }, (event) => seen.starts.push(event.subject));
    log.publish('execution-end', end('of ann'));
    log.publish('execution-end', end('of bob', 'bob'));
    log.publish('execution-log', { caller: 'bob', subject: 'log of bob', data: samples['execution-log'] });
    log.publish('plugin-change', { subject: 'weather', data: samples['plugin-change'] });
    log.publish('tools-change', { subject: 'tools', data: samples['tools-change'] });
    expect(seen).toEqual({
      ann: ['of ann', 'tools'],
      admin: ['of ann', 'of bob', 'log of bob', 'weather', 'tools'],
      starts: ['tools'],
    });
    expect(log.readAfter(0, { caller: 'ann' }, 9).map((event) => event.subject)).toEqual(['of ann', 'tools']);
    expect(log.readAfter(0, { caller: 'ann', types: ['tools-change'] }, 9).map((event) => event.subject)).toEqual(['tools']);
    expect(log.readAfter(0, { caller: 'null' }, 9).map((event) => event.subject)).toEqual(['tools']);
    expect(log.readAfter(1, {}, 2).map((event) => event.subject)).toEqual(['of bob', 'weather']);
  });

  it('names no tool beyond what its reader knows, and says nothing where nothing is left', () => {
    const log = openLog();
    const told: unknown[] = [];
    const filter = { caller: 'ann', seesTool: (name: string) => name === 'a' };
    log.subscribe(filter, ({ data }) => told.push(data));
    log.publish('tools-change', { subject: 'tools', data: { added: ['a@1.0.0', 'b@1.0.0'], removed: ['b@2.0.0'], changed: [] } });
    log.publish('tools-change', { subject: 'tools', data: { added: ['b@1.0.0'], removed: [], changed: ['c@1.0.0'] } });
    expect(told).toEqual([{ added: ['a@1.0.0'], removed: [], changed: [] }]);
    expect(log.readAfter(0, filter, 9).map(({ data }) => data)).toEqual(told);
  });

  it('ends, also from inside a listener, and begins with the next event', () => {
    const log = openLog();
    const told: string[] = [];
    const stop = log.subscribe({}, (event) => {
      told.push(`first ${event.subject}`);
      stop();
      log.subscribe({}, (later) => told.push(`second ${later.subject}`));
    });
    log.publish('execution-end', end('e1'));
    log.publish('execution-end', end('e2'));
    expect(told).toEqual(['first e1', 'second e2']);
  });
});

describe('createEventLog', () => {
  it('never gives out a number twice, even when nothing of it was committed', () => {
    const dataDir = join(temporaryDir(), 'data');
    let newest = 0;
    for (let restart = 0; restart < 3; restart++) {
      const store = openStore({ dataDir });
      // What this store queues stays uncommitted for the reader of the next round: the numbers are reserved before.
      const log = createEventLog({ store: { events: { ...store.events, insert: () => {} }, flush: store.flush }, now: () => 1 });
      expect(log.lastSeq()).toBeGreaterThanOrEqual(newest);
      for (let n = 0; n < 5000; n++) log.publish('execution-end', end('e'));
      newest = log.lastSeq();
      store.close();
    }
    expect(newest).toBeGreaterThanOrEqual(15_000);
  });

  it('keeps the newest 20 000 or little more', () => {
    const log = openLog();
    for (let n = 0; n < 22_500; n++) log.publish('execution-end', end(`e${n}`));
    const kept = log.readAfter(0, {}, 100_000);
    expect(kept.length).toBeGreaterThanOrEqual(20_000);
    expect(kept.length).toBeLessThan(21_000);
    expect(kept.at(-1)?.subject).toBe('e22499');
  });

  it('passes over kept events that this version does not know', () => {
    const store = temporaryStore();
    const log = createEventLog({ store, now: () => 1 });
    const first = log.lastSeq() + 100;
    store.events.insert({ seq: first, type: 'unheard-of', atMs: 1, caller: null, subject: 'x', dataJson: '{}' });
    store.events.insert({ seq: first + 1, type: 'daemon-stop', atMs: 1, caller: null, subject: 'x', dataJson: '{"reason":1}' });
    store.events.insert({ seq: first + 2, type: 'daemon-stop', atMs: 1, caller: null, subject: 'x', dataJson: '{"reason":"r"}' });
    expect(log.readAfter(0, {}, 9).map((event) => event.seq)).toEqual([first + 2]);
  });

  it('keeps no more bytes than it may, however few events hold them', () => {
    const store = temporaryStore();
    const log = createEventLog({ store, now: () => 1 });
    const message = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 100; n++) log.publish('storage-problem', { subject: 'daemon', data: { path: '/d', message } });
    const kept = store.events.listAfter(0, { limit: 1000 });
    expect(kept.length).toBeLessThan(70);
    expect(kept.at(-1)?.seq).toBe(100);
    expect(kept.length).toBeGreaterThan(60);
  });
});
