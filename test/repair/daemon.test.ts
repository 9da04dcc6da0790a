import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Settings } from '../../src/config/schema.ts';
import { prepareOperations } from '../../src/operations/invoke.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const missingBrace = `export default {
  description: 'Adds.',
  handler: async (args: { a: number; b: number }) => {
    const sum = args.a + args.b
    return String(sum);
  ,
};
`;

async function startDaemonWith(plugins: Record<string, string>, settings: Settings = {}) {
  const daemon = await startSmallDaemon(plugins, settings);
  onTestFinished(daemon.close);
  const { repairs } = daemon.parts;
  return Object.assign(daemon, {
    reached: (state: string) =>
      until(() => repairs.list({ limit: 10 }).find((repair) => repair.state === state), `a repair that is ${state}`),
  });
}

describe('a daemon', () => {
  it('mends a plugin that never loaded, with the fixers that it ships', async () => {
    const { call, reached, folder, parts } = await startDaemonWith({ 'add.ts': missingBrace });
    const repair = await reached('published');
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ status: 'success', output: '3' });
    expect(readFileSync(join(folder, 'plugins', 'add.ts'), 'utf8')).toBe(missingBrace);
    expect(parts.plugins.get('add')).toMatchObject({ state: 'ready', author: 'repair' });
    expect(repair.proposal?.diff).toContain('+');
  });

  it('mends a broken edit, and leaves the plugins beside it alone', async () => {
    const good = (answer: string) => `export default { description: 'A.', handler: async () => '${answer}' };\n`;
    const { call, reached, folder, parts } = await startDaemonWith({ 'edited.ts': good('one'), 'beside.ts': good('beside') });
    writeFileSync(join(folder, 'plugins', 'edited.ts'), good('two').replace(' };', ' '));
    await reached('published');
    expect(await call('edited')).toMatchObject({ output: 'two' });
    expect(parts.plugins.get('beside')).toMatchObject({ state: 'ready', generation: 1, author: 'operator' });
    expect(parts.repairs.list({ limit: 10 })).toHaveLength(1);
  });

  it('finds the file that was meant by a plugin of several files, and tells of a plugin that is gone', async () => {
    const entry = (from: string) =>
      `import { sum } from '${from}';\nexport default { description: 'Adds.', handler: async () => sum(1, 2) };\n`;
    const { call, folder, parts } = await startDaemonWith({});
    const plugin = join(folder, 'plugins', 'adds');
    mkdirSync(plugin);
    writeFileSync(join(plugin, 'total.ts'), 'export const sum = (a: number, b: number): number => a + b;\n');
    writeFileSync(join(plugin, 'index.ts'), entry('./total.ts'));
    await until(() => parts.plugins.list()[0]?.state === 'ready', 'the plugin');
    writeFileSync(join(plugin, 'index.ts'), entry('./totl.ts'));
    const { id } = await until(() => parts.repairs.list({ limit: 1, state: 'published' })[0], 'the repair');
    expect(await call('adds')).toMatchObject({ output: 3 });
    await parts.repairs.apply(id, 'local');
    writeFileSync(join(plugin, 'index.ts'), `${entry('./total.ts')}// of a person\n`);
    await expect(parts.repairs.rollback(id, 'local')).rejects.toMatchObject({
      code: 'conflict',
      fix: expect.stringContaining(`hotcell repair show ${id}`),
    });
    rmSync(plugin, { recursive: true });
    await until(() => parts.plugins.list().length === 0, 'the end of the plugin');
    expect(parts.repairs.list({ limit: 5, plugin: 'adds' })).toMatchObject([{ id }]);
    expect(() => parts.repairs.list({ limit: 5, plugin: 'nix' })).toThrow('no plugin "nix"');
  });

  it('answers who asks for a repair with what was saved a moment ago, and with the repair that serves already', async () => {
    const good = `export default { description: 'A.', handler: async () => 'one' };\n`;
    const { folder, parts } = await startDaemonWith({ 'edited.ts': good });
    await expect(parts.repairs.begin('edited', true)).rejects.toMatchObject({ code: 'conflict' });
    writeFileSync(join(folder, 'plugins', 'edited.ts'), good.replace(' };', ' '));
    const repair = await parts.repairs.begin('edited', true);
    expect(repair).toMatchObject({ state: 'published' });
    expect(await parts.repairs.begin('edited', true)).toMatchObject({ id: repair.id, state: 'published' });
  });

  it('starts what is off for the operator in person, and for no admin key that says it is one', async () => {
    const { daemon } = await startDaemonWith({ 'add.ts': missingBrace }, { repair: { mode: 'off' } });
    const start = (id: string) =>
      prepareOperations(daemon.operations)
        .get('repairs.start')
        ?.invoke({ plugin: 'add', person: true }, { caller: { id, role: 'admin' }, signal: new AbortController().signal });
    await expect(start('ann')).rejects.toThrow('repair.mode.does-not-compile is off');
    expect(await start('local')).toMatchObject({ plugin: 'add', state: 'proposed' });
  });

  it('tells why nothing is repaired where a permission is missing', async () => {
    const text =
      "export default { description: 'A.', permissions: { net: ['x.example'] }, handler: async (args, context) => (await context.fetch('https://x.example/')).text() };\n";
    const { call, parts } = await startDaemonWith({ 'asks.ts': text }, { grantRequested: false });
    expect(await call('asks')).toMatchObject({ status: 'error' });
    await parts.repairs.idle();
    expect(parts.repairs.list({ limit: 10 })).toEqual([]);
  });

  it('takes modes over from an edited config', async () => {
    const { folder, events, parts, reached } = await startDaemonWith({}, { repair: { mode: { 'does-not-compile': 'off' } } });
    writeFileSync(join(folder, 'plugins', 'add.ts'), missingBrace);
    await until(() => parts.repairs.facts().refused.off > 0, 'the brake');
    const config = join(folder, 'hotcell.config.yaml');
    writeFileSync(
      config,
      readFileSync(config, 'utf8').replace('does-not-compile: off', 'does-not-compile: propose').replace('"off"', 'propose'),
    );
    await until(() => events.find(({ type }) => type === 'config-change'), 'the edit of the config');
    writeFileSync(join(folder, 'plugins', 'add.ts'), `${missingBrace}// again\n`);
    await reached('proposed');
    expect(parts.plugins.get('add').state).toBe('failed');
  });
});
