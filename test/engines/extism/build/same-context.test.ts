import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../../../small-daemon.ts';
import { buildText, moduleOf } from './build-fixture.ts';

const source = (name: string) => `export default {
  name: '${name}', version: '1.0.0', description: 'Shows its context.', permissions: { env: ['NOT_GRANTED'] },
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
  writeFileSync(join(folder, 'context.wasm'), moduleOf(await buildText('context.ts', source('context_built'))));
  const settings = { number: 5, text: '5', list: [1, { a: null }] };
  daemon = await startSmallDaemon(
    { 'context.ts': source('context') },
    { grantRequested: false, wasmDirs: [folder], plugins: { 'context.ts': settings, 'context.wasm': settings } },
  );
});
afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(name: string, how: string): Promise<unknown> {
  const answer = await daemon.call(name, { how }, { session: 'talk' });
  expect(answer).toMatchObject({ status: 'success' });
  return answer.output;
}

describe('the context of a built module in a daemon', () => {
  it.each(['settings', 'denied'])('is that of its source: %s', async (how) => {
    const ofModule = JSON.stringify(await ask('context_built', how));
    // Each is spoken of by its own name and file.
    expect(JSON.parse(ofModule.replaceAll('context_built', 'context').replaceAll('context.wasm', 'context.ts'))).toEqual(
      await ask('context', how),
    );
  });

  it('says who calls', async () => {
    const facts = await ask('context_built', 'facts');
    expect(facts).toMatchObject({ caller: 'local', session: 'talk', id: expect.stringMatching(/^exe_/) });
    expect(facts).not.toEqual(await ask('context_built', 'facts'));
  });
});
