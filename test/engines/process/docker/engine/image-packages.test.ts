import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pluginContracts } from '../../../../../src/operations/contracts/plugins.ts';
import { type DaemonHouse, openDaemonHouse } from '../../../../promises/daemon-house.ts';
import { isDockerReady, testImages } from '../docker-machine.ts';

const image = 'hotcell-test/node-packages:1';
const { resolve } = createRequire(import.meta.url);
/** A package of this checkout with a native add-on, which is built for this very system. */
const folderOf = (name: string) => join(dirname(resolve('oxc-parser/package.json')), '..', name);

/** Node of the tests with packages in /node_modules. */
function buildImage(folder: string): boolean {
  const packages = join(folder, 'node_modules');
  for (const name of ['oxc-parser', '@oxc-project', '@oxc-parser']) {
    cpSync(folderOf(name), join(packages, name), { recursive: true, dereference: true });
  }
  const binding = readdirSync(join(packages, '@oxc-parser')).find((name) => name.startsWith('binding-linux')) ?? '';
  const addon = readdirSync(join(packages, '@oxc-parser', binding)).find((name) => name.endsWith('.node')) ?? '';
  mkdirSync(join(packages, 'own-addon'));
  const file = join(packages, '@oxc-parser', binding, addon);
  cpSync(file, join(packages, 'own-addon/addon.node'));
  // What the add-on loads beside the libraries of Node.
  for (const [, library = ''] of spawnSync('ldd', [file], { encoding: 'utf8' }).stdout.matchAll(/(\/\S+)\s+\(0x/g)) {
    mkdirSync(dirname(join(folder, 'libraries', library)), { recursive: true });
    cpSync(realpathSync(library), join(folder, 'libraries', library));
  }
  writeFileSync(join(folder, 'Dockerfile'), `FROM ${testImages.node}\nCOPY libraries/ /\nCOPY node_modules /node_modules\n`);
  const env = { ...process.env, DOCKER_BUILDKIT: '0' };
  return spawnSync('docker', ['build', '-q', '-t', image, folder], { env, stdio: 'ignore' }).status === 0;
}

const parses = `
import { parseSync } from 'oxc-parser';
export default {
  name: 'parses', engine: 'docker', description: 'Parses code.',
  handler: ({ code }: { code: string }) => parseSync('a.ts', code).program.body.length,
};`;
const wraps = `
import addon from 'own-addon';
export default { name: 'wraps', engine: 'docker', description: 'Has an add-on.', handler: () => typeof addon.parseSync };`;
const misses = `
import nothing from 'no-such-package';
export default { name: 'misses', engine: 'docker', description: 'Misses a package.', handler: () => nothing };`;
const brings = `
import addon from './own.node';
export default { name: 'brings', engine: 'docker', description: 'Brings an add-on.', handler: () => addon };`;

describe.skipIf(!isDockerReady)('packages of the image', () => {
  let folder: string;
  let house: DaemonHouse;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-packages-'));
    mkdirSync(join(folder, 'image'));
    expect(buildImage(join(folder, 'image'))).toBe(true);
    mkdirSync(join(folder, 'plugins/node_modules/own-addon'), { recursive: true });
    writeFileSync(join(folder, 'plugins/node_modules/own-addon/index.js'), "module.exports = require('./addon.node');");
    writeFileSync(join(folder, 'hotcell.config.yaml'), `port: 0\ndocker: { pluginImage: '${image}', images: [] }\n`);
    for (const [name, text] of Object.entries({ parses, wraps, misses, brings })) {
      writeFileSync(join(folder, 'plugins', `${name}.ts`), text);
    }
    house = await openDaemonHouse(folder, { grantRequested: true });
  }, 60_000);
  afterAll(async () => {
    await house?.close();
    spawnSync('docker', ['rmi', image], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  });

  const diagnosticOf = async (name: string) => (await house.client.invoke(pluginContracts.get, { name })).diagnostic;

  it('are found where the plugin has none of that name, with their native add-ons', async () => {
    expect(await house.call('parses', { code: 'let a; let b;' })).toMatchObject({ status: 'success', output: 2 });
  });

  it('lend their native add-on to the same package beside the plugin', async () => {
    expect(await house.call('wraps')).toMatchObject({ status: 'success', output: 'function' });
  });

  it('are named when they are nowhere', async () => {
    expect(await diagnosticOf('misses')).toMatchObject({
      code: 'load-failed',
      message: expect.stringContaining("Cannot find package 'no-such-package'"),
    });
  });

  it('are the only place of native add-ons: one of the plugin is refused', async () => {
    expect(await diagnosticOf('brings')).toMatchObject({ code: 'import-refused', line: 2 });
  });
});
