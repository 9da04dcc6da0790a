import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../../../small-daemon.ts';
import { buildText, moduleOf } from './build-fixture.ts';

const source = (version: string) => `export default {
  name: 'context', version: '${version}', description: 'Shows its context.', permissions: { env: ['NOT_GRANTED'] },
  handler: async ({ how }: { how: string }, context: any) => {
    const attempt = (act: () => unknown) => { try { return act() ?? 'nothing'; } catch (error: any) { return [error.code, error.message]; } };
    if (how === 'facts') return { caller: context.caller.id, session: context.session.id, id: context.executionId };
    if (how === 'settings') return ['number', 'text', 'list', 'none'].map((key) => [key, attempt(() => context.config.get(key))]);
    return [attempt(() => context.env.get('NOT_GRANTED')), attempt(() => context.config.get('NOT_GRANTED', 'else')), attempt(() => context.env.get('OTHER'))];
  },
};
`;

const folder = mkdtempSync(join(tmpdir(), 'hotcell-context-'));
let daemon: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  writeFileSync(join(folder, 'context.wasm'), moduleOf(await buildText('context.ts', source('2.0.0'))));
  const settings = { number: 5, text: '5', list: [1, { a: null }] };
  daemon = await startSmallDaemon(
    { 'context.ts': source('1.0.0') },
    { grantRequested: false, wasmDirs: [folder], plugins: { context: settings } },
  );
});
afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(version: string, how: string): Promise<unknown> {
  const answer = await daemon.call(`context@${version}`, { how }, { session: 'talk' });
  expect(answer).toMatchObject({ status: 'success' });
  return answer.output;
}

describe('the context of a built module in a daemon', () => {
  it.each(['settings', 'denied'])('is that of its source: %s', async (how) => {
    expect(await ask('2.0.0', how)).toEqual(await ask('1.0.0', how));
  });

  it('says who calls', async () => {
    const facts = await ask('2.0.0', 'facts');
    expect(facts).toMatchObject({ caller: 'local', session: 'talk', id: expect.stringMatching(/^exe_/) });
    expect(facts).not.toEqual(await ask('2.0.0', 'facts'));
  });
});
