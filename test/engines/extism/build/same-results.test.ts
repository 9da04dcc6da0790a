import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startExampleDaemon } from '../../../example-daemon.ts';
import { buildPath, buildText, moduleOf, openInSdk, type SdkModule } from './build-fixture.ts';

const pluginDir = fileURLToPath(new URL('../../../../plugins/', import.meta.url));
const names = [
  'codecs.ts',
  'cron-next.cjs',
  'csv-query',
  'date-math.ts',
  'invoice-total.ts',
  'json-query',
  'text-diff.ts',
  'text-stats.ts',
  'unit-convert.ts',
];
const picky = `export default {
  name: 'picky', description: 'Fails, and says how.', isDangerous: false, tags: ['odd'], timeoutMs: 2000,
  permissions: { net: ['api.example.com'], env: ['PICKY_KEY'], read: ['.'] },
  examples: [{ args: { how: 'text' }, expect: '17' }],
  handler: async ({ how }: { how: 'text' | 'nothing' | 'throws' | 'denied' | 'files' }, context: any) => {
    if (how === 'throws') throw new RangeError('out of range');
    if (how === 'denied') return (await context.fetch('https://other.example.com/')).status;
    if (how === 'files') return context.files.read('a.txt');
    return how === 'text' ? '17' : undefined;
  },
};
`;

type ExampleDaemon = Awaited<ReturnType<typeof startExampleDaemon>>;

const folder = mkdtempSync(join(tmpdir(), 'hotcell-same-'));
const modules = new Map<string, SdkModule>();
let fromSource: ExampleDaemon;
let fromModules: ExampleDaemon;

beforeAll(async () => {
  for (const name of names.filter((each) => readdirSync(pluginDir).includes(each))) {
    const module = moduleOf(await buildPath(join(pluginDir, name)));
    writeFileSync(join(folder, `${name.replace(/\.\w+$/, '')}.wasm`), module);
    modules.set(name, await openInSdk(module));
  }
  writeFileSync(join(folder, 'picky.wasm'), moduleOf(await buildText('picky.ts', picky)));
  fromSource = await startExampleDaemon({ grantRequested: true });
  fromModules = await startExampleDaemon({ grantRequested: true, plugins: [folder] });
}, 120_000);
afterAll(async () => {
  for (const { plugin } of modules.values()) await plugin.close();
  await fromModules?.close();
  await fromSource?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a plugin that was built', () => {
  it.each(names)('%s: gives what its source gives, in the plain SDK and dropped into a daemon', async (name) => {
    const view = fromSource.plugins.list().find(({ path }) => path.endsWith(name));
    const sdk = modules.get(name);
    if (!view || !sdk) throw new Error(`${name} was not loaded`);
    let compared = 0;
    for (const tool of view.tools) {
      const examples = fromSource.tools.resolve(tool).manifest.examples;
      for (const { args } of examples) {
        const wanted = await fromSource.call(tool, args);
        expect(wanted.status).toBe('success');
        expect(await sdk.tool(tool.split('@')[0] ?? '', args)).toEqual(wanted.output);
        expect(await fromModules.call(tool, args)).toMatchObject({ status: 'success', output: wanted.output });
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(0);
  });
});

describe('a module that was dropped into a daemon', () => {
  it('is the plugin that it was made from: its schema, flags and permissions', () => {
    const view = fromModules.plugins.list().find(({ name }) => name === 'picky');
    expect(view).toMatchObject({
      engine: 'extism',
      state: 'ready',
      permissions: { requested: { net: ['api.example.com'], env: ['PICKY_KEY'] } },
    });
    expect(fromModules.tools.resolve('picky').manifest).toMatchObject({
      timeoutMs: 2000,
      tags: ['odd'],
      input: { required: ['how'] },
      examples: [{ expect: '17' }],
    });
  });

  it('keeps text text, and nothing null', async () => {
    expect(await fromModules.call('picky', { how: 'text' })).toMatchObject({ output: '17' });
    expect(await fromModules.call('picky', { how: 'nothing' })).toMatchObject({ status: 'success', output: null });
  });

  it('fails with the error of its handler, and is refused what was not granted', async () => {
    const thrown = await fromModules.call('picky', { how: 'throws' });
    expect(thrown).toMatchObject({ status: 'error', error: { code: 'handler-threw' } });
    expect(thrown.error?.message).toMatch(/^RangeError: out of range\n {4}at handler \(picky\.ts:6:\d+\)/);
    expect(await fromModules.call('picky', { how: 'denied' })).toMatchObject({
      status: 'error',
      error: { code: 'permission-denied' },
    });
    expect((await fromModules.call('picky', { how: 'files' })).error?.message).toContain(
      'context.files.read is not part of a built module',
    );
  });
});
