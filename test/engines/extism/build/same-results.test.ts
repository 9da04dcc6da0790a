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
  name: 'picky', description: 'Does what a daemon alone can do, and fails.', tags: ['odd'], timeoutMs: 5000,
  permissions: { net: ['api.example.com'], env: ['PICKY_KEY'], read: ['.'], write: ['.'], kv: true, tools: ['text_stats'] },
  examples: [{ args: { how: 'text' }, expect: '17' }],
  handler: async ({ how }: { how: string }, context: any) => {
    if (how === 'throws') throw new RangeError('out of range');
    if (how === 'denied') return (await context.fetch('https://other.example.com/')).status;
    if (how === 'caught') return context.fetch('https://other.example.com/').catch((error: any) => [error.name, error.code]);
    if (how === 'missing') return context.files.read('missing.txt');
    if (how === 'files') {
      await context.files.write('a/b.bin', new Uint8Array([1, 2, 255]));
      return [...(await context.files.readBytes('a/b.bin'))];
    }
    if (how === 'kv') {
      const before = await context.kv.get('count');
      await context.kv.set('count', (before ?? 0) + 1);
      return { before, list: await context.kv.list() };
    }
    if (how === 'tools') return context.tools.call('text_stats', { text: 'two words' });
    if (how === 'nothing') return undefined;
    if (how === 'circle') { const circle: any = {}; circle.self = circle; return circle; }
    if (how === 'function') return () => 1;
    return '17';
  },
};
`;

type ExampleDaemon = Awaited<ReturnType<typeof startExampleDaemon>>;

const folder = mkdtempSync(join(tmpdir(), 'hotcell-same-'));
const sources = mkdtempSync(join(tmpdir(), 'hotcell-source-'));
const modules = new Map<string, SdkModule>();
let fromSource: ExampleDaemon;
let fromModules: ExampleDaemon;

beforeAll(async () => {
  for (const name of names.filter((each) => readdirSync(pluginDir).includes(each))) {
    const module = moduleOf(await buildPath(join(pluginDir, name)));
    writeFileSync(join(folder, `${name.replace(/\.\w+$/, '')}.wasm`), module);
    modules.set(name, await openInSdk(module));
  }
  writeFileSync(join(sources, 'picky.ts'), picky);
  writeFileSync(join(folder, 'picky.wasm'), moduleOf(await buildText('picky.ts', picky)));
  fromSource = await startExampleDaemon({ grantRequested: true, plugins: [pluginDir, sources] });
  fromModules = await startExampleDaemon({ grantRequested: true, plugins: [folder] });
}, 120_000);
afterAll(async () => {
  for (const { plugin } of modules.values()) await plugin.close();
  await fromModules?.close();
  await fromSource?.close();
  for (const each of [folder, sources]) rmSync(each, { recursive: true, force: true });
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
      permissions: { requested: { net: ['api.example.com'], env: ['PICKY_KEY'], kv: true } },
    });
    expect(fromModules.tools.resolve('picky').manifest).toMatchObject({
      timeoutMs: 5000,
      tags: ['odd'],
      input: { required: ['how'] },
      examples: [{ expect: '17' }],
    });
  });

  it.each(['text', 'nothing', 'files', 'kv', 'kv', 'tools', 'caught'])('gives what its source gives: %s', async (how) => {
    const wanted = await fromSource.call('picky', { how });
    expect(wanted.status).toBe('success');
    expect(await fromModules.call('picky', { how })).toMatchObject({ status: 'success', output: wanted.output });
  });

  it.each(['throws', 'denied', 'missing', 'circle', 'function'])(
    'fails as its source fails, with the place in the file: %s',
    async (how) => {
      const wanted = await fromSource.call('picky', { how });
      const { status, error } = await fromModules.call('picky', { how });
      expect({ status, code: error?.code, name: error?.name }).toEqual({
        status: 'error',
        code: wanted.error?.code,
        name: wanted.error?.name,
      });
      expect(error?.message.split('\n')[0]).toBe(wanted.error?.message);
      const places = (wanted.error?.frames ?? []).map(({ file, line }) => `${file}:${line}:`);
      for (const place of places) expect(error?.message).toContain(place);
      expect(places.length > 0).toBe(how === 'throws' || how === 'missing');
    },
  );
});
