import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pluginContracts } from '../../../src/operations/contracts/plugins.ts';
import { explainPassedOver } from '../../../src/plugins/discovery/passed-over.ts';
import type { PluginRoot } from '../../../src/plugins/discovery/plugin-roots.ts';
import { type DaemonHouse, openDaemonHouse } from '../../promises/daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from '../../promises/daemon-process.ts';

const tool = "export default { description: 'Says hi', handler: (_args: { who?: string }) => 'hi' };";

describe('what is dropped into a plugin folder', () => {
  let house: DaemonHouse;
  const folder = makeDaemonFolder({ 'ready.ts': tool });

  beforeAll(async () => {
    house = await openDaemonHouse(folder);
  });

  afterAll(async () => {
    await house.close();
    removeDaemonFolder(folder);
  });

  const drop = (name: string, text: string) => {
    const path = join(house.pluginDir, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  };
  const whenReady = (path: string) =>
    house.event('plugin-change', ({ data }) => data.path.endsWith(path) && data.state === 'ready');

  it.each([
    ['card.tsx', 'card'],
    ['plain.jsx', 'plain'],
    ['old.cts', 'old'],
  ])('%s works as the tool %s', async (file, name) => {
    drop(file, file.endsWith('x') && !file.includes('t') ? "export default { handler: () => 'hi' };" : tool);
    await whenReady(file);
    expect((await house.call(name)).output).toBe('hi');
  });

  it('a folder works by the main of its package.json', async () => {
    drop('pack/package.json', '{"main": "src/tool.ts"}');
    drop('pack/src/tool.ts', tool);
    await whenReady('pack');
    expect((await house.call('pack')).output).toBe('hi');
  });

  it('a name in another script works, and its plugin says how it is called', async () => {
    drop('天気.ts', tool);
    drop('größe.ts', tool);
    await Promise.all([whenReady('天気.ts'), whenReady('größe.ts')]);
    expect((await house.call('grosse')).output).toBe('hi');
    const { items } = await house.client.invoke(pluginContracts.list, {});
    const weather = items.find(({ path }) => path.endsWith('天気.ts'));
    expect(weather?.name).toMatch(/^plugin-[0-9a-f]{6}$/);
    expect(weather?.warnings.join()).toContain(`"天気.ts" is called "${weather?.name}"`);
    expect((await house.call(weather?.name ?? '')).output).toBe('hi');
    expect(items.find(({ name }) => name === 'ready')?.warnings).toEqual([]);
  });

  it('a folder without an entry is told at once and listed, until it has one', async () => {
    drop('group/weather.ts', tool);
    await house.event('watch-problem', ({ data }) => data.message.includes('plugins/group is no plugin'));
    const list = async () => (await house.client.invoke(pluginContracts.list, {})).passedOver ?? [];
    expect((await list()).map(({ reason }) => reason)).toEqual([
      'The folder plugins/group is no plugin: it has no index.ts, and its package.json names no "main" in it, so weather.ts is not looked at. Name its entry index.ts, move its files up to plugins, or begin its name with "_" when plugins import it.',
    ]);
    drop('group/index.ts', tool);
    await whenReady('group');
    expect(await list()).toEqual([]);
  });

  it('plugins of folders within a folder are told, too', () => {
    drop('team/weather/index.ts', tool);
    drop('team/deep/er/traffic.ts', tool);
    const root: PluginRoot = { path: house.pluginDir, kind: 'plugins', label: 'plugins' };
    expect(explainPassedOver(root, 'team')?.reason).toContain(
      'so deep/er/traffic.ts, weather/index.ts are not looked at. Name its entry index.ts, move what lies in it up to plugins, or',
    );
  });

  it('folders of data, helpers and tests are nobody to tell of', () => {
    for (const name of ['data/a.json', '_lib/a.ts', 'docs/a.test.ts', 'node_modules/x/index.ts', '.git/a.ts']) drop(name, tool);
    const root: PluginRoot = { path: house.pluginDir, kind: 'plugins', label: 'plugins' };
    for (const name of ['data', '_lib', 'docs', 'node_modules', '.git', 'ready.ts', 'nothing']) {
      expect(explainPassedOver(root, name), name).toBeUndefined();
    }
    const wasm: PluginRoot = { path: house.pluginDir, kind: 'wasm', label: 'wasm' };
    expect(explainPassedOver(wasm, 'ready.ts')?.reason).toContain('wasm/ready.ts is no plugin: this folder is for .wasm files.');
  });
});
