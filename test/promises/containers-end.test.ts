import Docker from 'dockerode';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownerLabel } from '../../src/engines/process/docker/container/container-flags.ts';
import { nameOwner } from '../../src/engines/process/docker/container/containers.ts';
import { describeDocker, eventually, findRunning, testImages } from '../engines/process/docker/docker-machine.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const native = `export default {
  name: 'native',
  permissions: { run: ['sh'] },
  handler: ({ script }, context) => context.run('sh', ['-c', script], {}),
};`;
const kept = `export default {
  name: 'kept',
  engine: 'docker',
  isolation: 'session',
  handler: ({ spin }) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(signal, () => {});
    setInterval(() => {}, 1000);
    while (spin);
    return 'kept';
  },
};`;
const config = {
  grantRequested: true,
  docker: { pluginImage: testImages.node, commands: { sh: testImages.box }, warm: { perImage: 1, total: 1 } },
};

describeDocker('a daemon that is killed', () => {
  const docker = new Docker({ socketPath: '/var/run/docker.sock' });
  let folder: string;
  let daemon: DaemonProcess;
  const containers = () =>
    docker.listContainers({ all: true, filters: { label: [`${ownerLabel}=${nameOwner(`${folder}/.hotcell`)}`] } });
  const running = async () => (await containers()).filter(({ State }) => State === 'running');

  beforeEach(async () => {
    folder = makeDaemonFolder({ 'native.ts': native, 'kept.ts': kept }, config);
    daemon = await startDaemonProcess(folder);
  }, 60_000);
  afterEach(async () => {
    await daemon.kill();
    for (const { Id } of await containers()) await docker.getContainer(Id).remove({ force: true });
    removeDaemonFolder(folder);
  }, 60_000);

  it('takes with it a command that ignores signals and writes on, kept cells, one that spins, and those that wait', async () => {
    expect(await daemon.call('kept', { spin: false })).toMatchObject({ status: 'success', output: 'kept' });
    const script = `trap '' TERM INT HUP PIPE; (while :; do echo on || :; done) & sleep 3600 & while :; do sleep 1; done`;
    const cut = daemon.call('native', { script }).catch(() => undefined);
    await findRunning(docker, async () => (await running()).map(({ Id }) => Id), 'sleep');
    const spins = daemon.call('kept', { spin: true }).catch(() => undefined);
    // One for the command, one kept in which the plugin spins, one that is ready for the next.
    const before = await eventually(running, (found) => found.length >= 3);
    expect(before.length).toBeGreaterThanOrEqual(3);
    await daemon.kill();
    await Promise.all([cut, spins]);
    const left = await eventually(running, (found) => found.length === 0);
    expect(left.map(({ Image, Status }) => `${Image} ${Status}`)).toEqual([]);
  }, 90_000);
});
