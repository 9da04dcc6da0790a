import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpClient } from '../../../../../src/client/client.ts';
import { ownerLabel } from '../../../../../src/engines/process/docker/container/container-flags.ts';
import { nameOwner } from '../../../../../src/engines/process/docker/container/containers.ts';
import { approvalContracts } from '../../../../../src/operations/contracts/access/approvals.ts';
import { keyContracts } from '../../../../../src/operations/contracts/access/keys.ts';
import { imageContracts } from '../../../../../src/operations/contracts/containers.ts';
import { executionContracts } from '../../../../../src/operations/contracts/executions.ts';
import { pluginContracts } from '../../../../../src/operations/contracts/plugins.ts';
import { toolContracts } from '../../../../../src/operations/contracts/tools.ts';
import { type DaemonHouse, openDaemonHouse } from '../../../../promises/daemon-house.ts';
import { describeDocker, eventually, testImages } from '../docker-machine.ts';

const remembers = `
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
let memory: string[] = [];
export default {
  name: 'remembers', engine: 'docker', description: 'Remembers.', isolation: 'session',
  permissions: { kv: true, read: ['.'], write: ['.'], tools: ['plain'] },
  tools: {
    put: {
      description: 'Remembers a text.',
      handler: async ({ text }: { text: string }, context: any) => {
        memory.push(text);
        writeFileSync('/tmp/left', text);
        context.log.info('put ' + text);
        await context.kv.set('text', text);
        await context.files.write('text.txt', text);
        return execFileSync('node', ['-p', '6 * 7'], { encoding: 'utf8' }).trim();
      },
    },
    get: {
      description: 'Says what it remembers.',
      handler: async (args: {}, context: any) => ({
        memory,
        kv: (await context.kv.get('text')) ?? null,
        files: (await context.files.list('.')).items.map((item: any) => item.name),
        other: await context.tools.call('plain', {}),
      }),
    },
    sure: { description: 'Asks.', handler: (args: {}, context: any) => context.confirm('Sure?') },
  },
};`;
const plain = "export default { name: 'plain', description: 'Plain.', handler: () => 'of quickjs' };";

let folder: string;
let house: DaemonHouse;
const docker = new Docker({ socketPath: '/var/run/docker.sock' });
const containers = async () => {
  const label = [`${ownerLabel}=${nameOwner(house.daemon.parts.config.dataDir)}`];
  return (await docker.listContainers({ all: true, filters: { label } })).map(({ Id }) => Id);
};

async function makePerson(name: string) {
  const { key } = await house.client.invoke(keyContracts.create, { name });
  const client = createHttpClient({ url: house.url, token: key });
  return (ref: string, args = {}) => client.invoke(toolContracts.call, { ref, arguments: args, session: 'the-same-name' });
}

describeDocker('a daemon with plugins in containers', () => {
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-daemon-')));
    mkdirSync(join(folder, 'plugins'));
    writeFileSync(join(folder, 'hotcell.config.yaml'), `port: 0\ndocker: { pluginImage: '${testImages.node}', images: [] }\n`);
    writeFileSync(join(folder, 'plugins', 'remembers.ts'), remembers);
    writeFileSync(join(folder, 'plugins', 'plain.ts'), plain);
    house = await openDaemonHouse(folder, { grantRequested: true });
  });
  afterAll(async () => {
    await house.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('gives them the capabilities of every engine, and records their calls', async () => {
    const put = await house.call('put', { text: 'one' });
    expect(put).toMatchObject({ status: 'success', output: '42' });
    expect(await house.call('get')).toMatchObject({ output: { kv: 'one', files: ['text.txt'], other: 'of quickjs' } });
    const record = await house.client.invoke(executionContracts.get, { id: put.executionId });
    expect(record.logs).toMatchObject([{ text: 'put one' }]);
  });

  it('shows their image among those that are needed', async () => {
    const { items } = await house.client.invoke(imageContracts.list, {});
    expect(items).toMatchObject([{ name: testImages.node, status: 'present', usedBy: ['plugins of the engine docker'] }]);
  });

  it('lets two callers share nothing', async () => {
    const [ann, bob] = [await makePerson('ann'), await makePerson('bob')];
    await ann('put', { text: 'of ann' });
    expect(await bob('get')).toMatchObject({ output: { memory: [], kv: null, files: [] } });
    expect(await ann('get')).toMatchObject({ output: { memory: ['of ann'], kv: 'of ann', files: ['text.txt'] } });
  });

  it('has a person answer what they ask', async () => {
    const running = house.call('sure');
    await house.event('approval-request', () => true);
    const { items } = await house.client.invoke(approvalContracts.list, {});
    await house.client.invoke(approvalContracts.answer, { id: items[0]?.id ?? '', answer: 'approve', person: true });
    expect(await running).toMatchObject({ status: 'success', output: true });
  });

  it('keeps the last good generation when an edit is broken', async () => {
    writeFileSync(join(folder, 'plugins', 'remembers.ts'), "throw new Error('broken');\nexport default { engine: 'docker' };");
    await house.event('plugin-change', ({ data }) => data.state === 'degraded');
    const view = await house.client.invoke(pluginContracts.get, { name: 'remembers' });
    expect(view).toMatchObject({ state: 'degraded', generation: 1, diagnostic: { message: 'broken', line: 1 } });
    expect(await house.call('put', { text: 'two' })).toMatchObject({ output: '42' });
  });

  it('is stopped and leaves no container behind', async () => {
    expect((await containers()).length).toBeGreaterThan(0);
    await house.close();
    expect(await eventually(containers, (ids) => ids.length === 0)).toEqual([]);
  });

  it('shows why a plugin cannot run when its image is missing', async () => {
    writeFileSync(join(folder, 'hotcell.config.yaml'), 'port: 0\ndocker: { pluginImage: nowhere:1, images: [] }\n');
    writeFileSync(join(folder, 'plugins', 'fresh.ts'), remembers.replace("name: 'remembers'", "name: 'fresh'"));
    house = await openDaemonHouse(folder, { grantRequested: true });
    const view = await house.client.invoke(pluginContracts.get, { name: 'fresh' });
    expect(view).toMatchObject({
      state: 'failed',
      diagnostic: { code: 'image-missing', fix: expect.stringContaining('docker pull') },
    });
  });
});
