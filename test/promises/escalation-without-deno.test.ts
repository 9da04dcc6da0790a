import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../src/operations/contracts/access/approvals.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const repository = join(import.meta.dirname, '../..');
let installation = '';
let folder = '';
let daemon: DaemonProcess;

const reader = `import { existsSync } from 'node:fs';
export default { description: 'x', handler: () => typeof existsSync };`;
const install = 'Install it beside Hotcell (npm install deno)';
const plugins = {
  'never.ts': reader,
  'ask.ts': reader,
  'auto.ts': reader,
  'wants.ts': `export default { description: 'x', engine: 'deno', handler: () => 1 };`,
  'spins.ts': `export default { description: 'x', idempotent: true, limits: { cpuMs: 200 }, handler: () => { for (;;); } };`,
};

beforeAll(async () => {
  installation = mkdtempSync(join(tmpdir(), 'hotcell-installation-'));
  for (const name of ['bin', 'src', 'wasm', 'package.json']) {
    cpSync(join(repository, name), join(installation, name), { recursive: true });
  }
  const packages = join(installation, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(repository, 'node_modules'))) {
    if (name !== 'deno' && name !== '@deno') symlinkSync(join(repository, 'node_modules', name), join(packages, name));
  }
  folder = makeDaemonFolder(plugins, { escalation: 'auto', pluginEscalation: { never: 'never', ask: 'ask' } });
  const PATH = dirname(process.execPath);
  daemon = await startDaemonProcess(folder, { PATH }, join(installation, 'bin', 'hotcell.js'));
}, 120_000);

afterAll(async () => {
  await daemon?.stop();
  removeDaemonFolder(folder);
  rmSync(installation, { recursive: true, force: true });
});

describe('a machine without Deno', () => {
  it.each(['never', 'ask', 'auto'])('says under %s what to install, and asks nobody for what cannot be', async (name) => {
    const { client } = daemon;
    const { state, diagnostic } = await client.invoke(pluginContracts.get, { name });
    expect({ state, code: diagnostic?.code }).toEqual({ state: 'failed', code: 'builtin-refused' });
    expect(diagnostic?.fix).toContain(
      'the engine "deno" would do. The engine "deno" needs Deno 2, which is not on this machine.',
    );
    expect(diagnostic?.fix).toContain(install);
    expect((await client.invoke(approvalContracts.list, {})).items).toEqual([]);
  });

  it('says the same to a plugin that asks for the engine, and ends a call as it would without', async () => {
    const { client, call } = daemon;
    const { diagnostic } = await client.invoke(pluginContracts.get, { name: 'wants' });
    expect(diagnostic).toMatchObject({ code: 'engine-missing', fix: expect.stringContaining(install) });
    const answer = await call('spins');
    expect(answer).toMatchObject({ status: 'timeout', error: { fix: 'Do less, or raise timeoutMs or limits.cpuMs.' } });
    expect(answer).not.toHaveProperty('climbed');
  });

  it('serves the plugin as soon as Deno is there', async () => {
    symlinkSync(join(repository, 'node_modules', '@deno'), join(installation, 'node_modules', '@deno'));
    await daemon.client.invoke(pluginContracts.reload, { name: 'auto' });
    expect(await daemon.call('auto')).toMatchObject({ output: 'function' });
  });
});
