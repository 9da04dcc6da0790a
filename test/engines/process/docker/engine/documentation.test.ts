import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pluginContracts } from '../../../../../src/operations/contracts/plugins.ts';
import { readBlocks } from '../../../../docs/markdown.ts';
import { type DaemonHouse, openDaemonHouse } from '../../../../promises/daemon-house.ts';
import { describeDocker, testImages } from '../docker-machine.ts';

const blocks = readBlocks('docs/docker.md').filter(({ language }) => language === 'ts');

describeDocker('plugins of docs/docker.md', () => {
  let folder: string;
  let house: DaemonHouse;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-page-'));
    mkdirSync(join(folder, 'plugins'));
    writeFileSync(join(folder, 'hotcell.config.yaml'), `port: 0\ndocker: { pluginImage: '${testImages.node}' }\n`);
    for (const { file = '', text } of blocks) writeFileSync(join(folder, file), text);
    house = await openDaemonHouse(folder, { grantRequested: true });
  });
  afterAll(async () => {
    await house.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(blocks.map(({ file = '' }) => file))('%s loads without a warning', async (file) => {
    const { items } = await house.client.invoke(pluginContracts.list, {});
    expect(items.find(({ path }) => path === file)).toMatchObject({ state: 'ready' });
    expect(items.find(({ path }) => path === file)?.diagnostic).toBeUndefined();
  });

  it('do what they say', async () => {
    const rows = [
      { name: 'pear', price: 3 },
      { name: 'plum', price: 2 },
    ];
    const sql = "SELECT row->>'name' AS name FROM data ORDER BY row->>'price'";
    expect(await house.call('query', { rows, sql })).toMatchObject({ output: [{ name: 'plum' }, { name: 'pear' }] });
  });
});
