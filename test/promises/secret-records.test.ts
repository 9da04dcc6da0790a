import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeRecording } from '../../src/calls/record/recording-codec.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const secret = 'a-v3ry-s3cret-value-of-the-config';
/** It is handed the value itself, so nothing takes it out on the way in. */
const tells = `export default {
  name: 'tells', description: 'Tells what it is handed.', parameters: { type: 'object' }, permissions: { kv: true },
  handler: async ({ text }, context) => { context.log.info('got ' + text); await context.kv.set('kept', text); return 'done'; },
};`;
const folder = mkdtempSync(join(tmpdir(), 'hotcell-secret-records-'));
writeFileSync(join(folder, 'secret'), secret);
let house: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  house = await startSmallDaemon(
    { 'tells.ts': tells },
    { secrets: { KEY: { file: join(folder, 'secret'), hosts: ['a.example'], header: 'x-key' } } },
  );
});
afterAll(async () => {
  await house.close();
  rmSync(folder, { recursive: true });
});

describe('a secret that a caller itself hands to a tool', () => {
  it('is in no row of the call, no line of its log and no recording', async () => {
    const live: string[] = [];
    const { executionId, output } = await house.call('tells', { text: secret }, { onLog: ({ text }) => live.push(text) });
    expect(live).toHaveLength(1);
    expect(output).toBe('done');
    const { store, caller } = house.parts;
    const lines = await caller.readLogs(executionId);
    expect(lines.map(({ text }) => text)).toEqual([expect.stringMatching(/^got ./)]);
    const row = store.executions.get(executionId);
    expect(row?.argumentsJson).toMatch(/^\{"text":"./);
    const recording = await decodeRecording(store.recordings.get(executionId) ?? new Uint8Array());
    expect(recording?.crossings.map(({ op }) => op)).toContain('kv.set');
    const heard = house.events.filter(({ type }) => type.startsWith('execution-'));
    expect(heard.map(({ type }) => type)).toContain('execution-log');
    const told = {
      'the row': row,
      'the log': lines,
      'the log as it was written': live,
      'the recording': recording?.crossings,
      'the events': heard,
    };
    for (const [where, what] of Object.entries(told)) expect(JSON.stringify(what), where).not.toContain(secret);
  });
});
