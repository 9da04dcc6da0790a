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

describe('a plugin that is another one each time that it loads', () => {
  const text = (comment: string) => `// ${comment}
    const words = Array.from({ length: 2000 + (Date.now() % 3000) }, (_, n) => 'word ' + n);
    const table = new Map(words.map((word, n) => [word, n]));
    export default { handler: async ({ ms }) => {
      const before = words.length;
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (words.length !== before || table.size !== before || table.get(words.at(-1)) !== before - 1) throw new Error('other memory');
      return before;
    } };`;
  const call = async (ms: number) => {
    const { status, error } = await daemon.call('shifting', { ms });
    return error?.message ?? status;
  };

  it('has in every call the memory from which the call began, whatever is saved or checked meanwhile', async () => {
    writeFileSync(join(folder, 'shifting.js'), text('first'));
    await expect.poll(() => call(0)).toBe('success');
    for (const round of [1, 2, 3]) {
      const waiting = Array.from({ length: 30 }, () => call(150));
      await daemon.plugins.writeSource('shifting', text(`round ${round}`), { by: 'local' });
      await daemon.plugins.check('shifting', text(`round ${round}`));
      await daemon.plugins.check('shifting', text('never saved'));
      const later = Array.from({ length: 30 }, () => call(20));
      expect(new Set(await Promise.all([...waiting, ...later]))).toEqual(new Set(['success']));
    }
    await daemon.plugins.rollback('shifting');
    expect(new Set(await Promise.all(Array.from({ length: 30 }, () => call(20))))).toEqual(new Set(['success']));
  });
});
