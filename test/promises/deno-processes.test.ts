import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findParentDeath } from '../../src/engines/process/deno/deno-process.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const plugins = {
  'spin.ts': "export default { name: 'spin', engine: 'deno', handler() { for (;;); } };",
  'kept.ts': `let calls = 0;
    export default { name: 'kept', engine: 'deno', isolation: 'session', handler() { return ++calls; } };`,
  'shout.ts': `import { connect } from 'node:net';
    export default { name: 'shout', engine: 'deno', permissions: { net: ['127.0.0.1:PORT'] },
      handler: ({ port }) => new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => socket.write('a'));
        socket.on('data', (chunk) => { resolve(String(chunk)); socket.destroy(); }).on('error', reject);
      }) };`,
};

let folder: string;
let daemon: DaemonProcess;
beforeAll(() => {
  folder = makeDaemonFolder({ 'spin.ts': plugins['spin.ts'], 'kept.ts': plugins['kept.ts'] }, { grantRequested: true });
});
afterAll(async () => {
  await daemon?.stop();
  removeDaemonFolder(folder);
});

/** The processes that the daemon of the folder has running, as its book says. */
const processes = () => readdirSync(join(folder, '.hotcell/deno/processes')).map(Number);
const alive = (pids: readonly number[]) => pids.filter((pid) => existsSync(`/proc/${pid}`));
const temporary = () => readdirSync(tmpdir()).filter((name) => name.startsWith('deno'));

async function eventually(isTrue: () => boolean): Promise<boolean> {
  const giveUpAt = Date.now() + 10_000;
  while (!isTrue() && Date.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 20));
  return isTrue();
}

describe('the Deno processes of a daemon', () => {
  it('reach granted places, and no other, are gone when it stops, and leave nothing', async () => {
    const before = temporary();
    const server = createServer((socket) => socket.on('data', () => socket.end('A')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    writeFileSync(join(folder, 'plugins', 'shout.ts'), plugins['shout.ts'].replace('PORT', String(port)));
    daemon = await startDaemonProcess(folder);
    expect(await daemon.call('shout', { port })).toMatchObject({ status: 'success', output: 'A' });
    expect(await daemon.call('shout', { port: Number(new URL(daemon.url).port) })).toMatchObject({
      status: 'error',
      error: { code: 'permission-denied', message: expect.stringContaining('hotcell grant shout net=127.0.0.1:') },
    });
    server.close();
    expect(await daemon.call('kept')).toMatchObject({ status: 'success', output: 1 });
    const spinning = daemon.call('spin').catch(() => undefined);
    await eventually(() => processes().length >= 2);
    const pids = processes();
    expect(alive(pids).length).toBeGreaterThan(0);
    await daemon.stop();
    await spinning;
    expect(alive(pids)).toEqual([]);
    expect(processes()).toEqual([]);
    expect(temporary()).toEqual(before);
  });

  it.skipIf(findParentDeath().length === 0)('end when it is killed, even those that spin', async () => {
    daemon = await startDaemonProcess(folder);
    expect(await daemon.call('kept')).toMatchObject({ output: 1 });
    const spinning = daemon.call('spin').catch(() => undefined);
    await eventually(() => processes().length >= 2);
    const pids = processes();
    await daemon.kill();
    await spinning;
    expect(await eventually(() => alive(pids).length === 0)).toBe(true);
  });
});

describe('a daemon without Deno', () => {
  it('says what to install at a plugin, and in a call of one that was built when Deno was there', async () => {
    writeFileSync(join(folder, 'plugins', 'new.ts'), "export default { name: 'new', engine: 'deno', handler: () => 1 };");
    daemon = await startDaemonProcess(folder, { HOTCELL_DENO: '/nowhere/deno' });
    expect(await daemon.client.invoke(pluginContracts.get, { name: 'new' })).toMatchObject({
      state: 'failed',
      diagnostic: { code: 'engine-missing', fix: expect.stringContaining('npm install deno') },
    });
    expect(await daemon.call('kept')).toMatchObject({
      status: 'error',
      error: { code: 'engine-missing', message: expect.stringContaining('npm install deno') },
    });
  });
});
