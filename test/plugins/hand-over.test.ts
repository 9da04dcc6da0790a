import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startExampleDaemon } from '../example-daemon.ts';

const counter = (edition: string) => `
let visits = 0;
export default {
  description: 'Counts calls, ${edition}.',
  usage: 'visits()',
  isolation: 'session',
  onReload: (state) => { if (state !== undefined) visits = state; return visits; },
  handler: () => ++visits,
};
`;

const folder = mkdtempSync(join(tmpdir(), 'hotcell-hand-over-'));
let daemon: Awaited<ReturnType<typeof startExampleDaemon>>;

beforeAll(async () => {
  writeFileSync(join(folder, 'visits.js'), counter('first edition'));
  daemon = await startExampleDaemon({ grantRequested: true, plugins: [folder] });
});
afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
});

const visit = async () => (await daemon.call('visits', {})).output;
const edit = (edition: string) => daemon.plugins.writeSource('visits', counter(edition), { by: 'local' });

describe('onReload', () => {
  it('hands the state of a session over reloads, however many lie between two calls', async () => {
    expect([await visit(), await visit()]).toEqual([1, 2]);
    await edit('second edition');
    expect(await visit()).toBe(3);
    await edit('third edition');
    await edit('fourth edition');
    expect(await visit()).toBe(4);
  });

  it('hands the state back with a rollback', async () => {
    await daemon.plugins.rollback('visits');
    expect(await visit()).toBe(5);
  });

  it('ends with the plugin: what takes its place begins anew', async () => {
    await edit('last edition');
    await daemon.plugins.remove('visits');
    writeFileSync(join(folder, 'visits.js'), counter('another plugin'));
    await expect.poll(() => daemon.plugins.list().map(({ state }) => state), { timeout: 10_000 }).toEqual(['ready']);
    expect(await visit()).toBe(1);
  });
});
