import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { startExampleDaemon } from './example-daemon.ts';

const daemon = await startExampleDaemon({ grantRequested: true });
const plugins = daemon.plugins.list();
const tools = daemon.tools.list().filter(({ source }) => source === 'plugin');

afterAll(() => daemon.close());

describe('the plugin folders', () => {
  it('load completely and without a warning', () => {
    const files = readdirSync(fileURLToPath(new URL('../plugins/', import.meta.url)));
    expect(plugins.filter((plugin) => plugin.engine === 'quickjs')).toHaveLength(files.length);
    const troubled = plugins.filter((plugin) => plugin.state !== 'ready' || plugin.warnings.length > 0);
    expect(troubled.map(({ name, state, warnings, diagnostic }) => ({ name, state, warnings, diagnostic }))).toEqual([]);
  });

  it('show every form: folder, CommonJS, package, module, several tools, shared cell, network, files, values', () => {
    const paths = plugins.map((plugin) => plugin.path.split('/').at(-1));
    expect(paths).toEqual(expect.arrayContaining(['json-query', 'cron-next.cjs', 'invoice-total.ts', 'count-vowels.wasm']));
    expect(plugins.filter((plugin) => plugin.tools.length > 1).map((plugin) => plugin.name)).toEqual([
      'codecs',
      'notes',
      'scoreboard',
    ]);
    expect(plugins.filter((plugin) => plugin.isolation === 'plugin').map((plugin) => plugin.name)).toEqual(['scoreboard']);
    const requested = new Set(plugins.flatMap((plugin) => Object.keys(plugin.permissions.requested)));
    expect([...requested].sort()).toEqual(['kv', 'limits', 'net', 'read', 'sharedCell']);
  });
});

describe.each(tools.map((tool) => [tool.name, tool] as const))('%s', (ref, { manifest }) => {
  it('tells a model what it is for and what it takes', () => {
    expect(manifest.description.length).toBeGreaterThan(30);
    expect(manifest.inputSource).not.toBe('none');
    expect(Object.keys(Object(manifest.input.properties)).length).toBeGreaterThan(0);
  });

  it('answers its examples', async () => {
    // Only the weather needs the network; everything else works without.
    expect(manifest.examples.length > 0).toBe(ref !== 'weather');
    for (const example of manifest.examples) {
      const answer = await daemon.call(ref, example.args);
      const expected = example.expect === undefined ? { status: 'success' } : { status: 'success', output: example.expect };
      expect(answer).toMatchObject(expected);
    }
  });
});

describe('the example plugins', () => {
  it('keep the notes of each caller apart, and find and delete them', async () => {
    await daemon.call('note_save', { title: 'Milk', text: 'two bottles', tags: ['Shop'] });
    const found = await daemon.call('note_find', { query: 'bottles', tag: 'shop' });
    expect(found.output).toMatchObject({ total: 1, notes: [{ title: 'Milk', text: 'two bottles' }] });
    const other = await daemon.call('note_find', { query: 'bottles' }, { id: 'somebody', role: 'caller' });
    expect(other.output).toMatchObject({ total: 0 });
    expect((await daemon.call('note_delete', { title: ' milk ' })).output).toEqual({ deleted: true });
  });

  it('share the scoreboard between callers', async () => {
    await daemon.call('score_add', { board: 'chess', name: 'Ada', points: 2 });
    await daemon.call('score_add', { board: 'chess', name: 'Bob', points: 3 }, { id: 'somebody', role: 'caller' });
    const ranking = [
      { name: 'Bob', score: 3 },
      { name: 'Ada', score: 2 },
    ];
    expect((await daemon.call('score_list', { board: 'chess' })).output).toEqual({ board: 'chess', names: 2, ranking });
  });

  it('stop a pattern that backtracks without end', async () => {
    const answer = await daemon.call('regex_tester', { pattern: '(a+)+$', text: `${'a'.repeat(40)}!` });
    expect(answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
  });

  it('say what to allow when a permission is missing, and serve everything else', async () => {
    const strict = await startExampleDaemon({ grantRequested: false });
    try {
      const refused = await strict.call('weather', { city: 'Lyon' });
      expect(refused).toMatchObject({
        status: 'error',
        error: { message: expect.stringMatching(/Tool "weather" may not reach geocoding-api\.open-meteo\.com/) },
      });
      expect(await strict.call('unit_convert', { value: 1, from: 'km', to: 'm' })).toMatchObject({ output: { value: 1000 } });
    } finally {
      await strict.close();
    }
  });
});
