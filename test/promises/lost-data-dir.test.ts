import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daemonContracts } from '../../src/operations/contracts/daemon.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from './daemon-process.ts';

const echo = `export default { name: 'echo', description: 'Says it again.', parameters: { type: 'object' }, handler: (args) => args };`;
const folder = makeDaemonFolder({ 'echo.ts': echo });
const dataDir = join(folder, '.hotcell');
let house: DaemonHouse;
beforeAll(async () => {
  house = await openDaemonHouse(folder);
});
afterAll(async () => {
  await house.close();
  removeDaemonFolder(folder);
});

const readiness = async () => JSON.stringify(await (await fetch(`${house.url}/readyz`)).json());
const examine = async () => {
  const { ok, items } = await house.client.invoke(daemonContracts.doctor, {});
  return { ok, database: items.find(({ name }) => name === 'database') };
};

describe('a data directory that goes while the daemon runs', () => {
  it('is noticed: an event, not ready, the doctor says it, and nothing begins that could not be recorded', async () => {
    expect(await house.call('echo', {})).toMatchObject({ status: 'success' });
    expect((await examine()).database).toMatchObject({ status: 'ok' });
    const told = house.event('storage-problem', ({ data }) => data.message.includes('was removed or replaced'));
    renameSync(dataDir, `${dataDir}-away`);
    await told;
    expect(await readiness()).toBe('{"status":"storage-failed"}');
    await expect(house.call('echo', {})).rejects.toMatchObject({
      code: 'storage-failed',
      fix: expect.stringContaining('start hotcell again'),
    });
    expect(await examine()).toMatchObject({ ok: false, database: { status: 'fail', message: expect.stringContaining(dataDir) } });
  });

  it('is over when it is put back', async () => {
    const told = house.event('storage-problem', ({ data }) => data.message.includes('recorded again'));
    renameSync(`${dataDir}-away`, dataDir);
    await told;
    expect(await house.call('echo', {})).toMatchObject({ status: 'success' });
    expect(await readiness()).toBe('{"status":"ready"}');
  });
});
