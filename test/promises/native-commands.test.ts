import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import Docker from 'dockerode';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ownerLabel } from '../../src/engines/process/docker/container/container-flags.ts';
import { nameOwner } from '../../src/engines/process/docker/container/containers.ts';
import { containerContracts, imageContracts } from '../../src/operations/contracts/containers.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { readBlocks } from '../docs/markdown.ts';
import { describeDocker, eventually, findRunning, testImages } from '../engines/process/docker/docker-machine.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const bin = fileURLToPath(new URL('../../bin/hotcell.js', import.meta.url));
const documented = readBlocks('docs/docker.md').find(({ file }) => file === 'plugins/thumbnail.ts')?.text ?? '';
const files = `export default {
  name: 'files',
  permissions: { read: ['.'], write: ['.'] },
  tools: {
    put: { handler: async ({ path, base64 }, { files }) => files.write(path, Uint8Array.fromBase64?.(base64) ?? Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))) },
    get: { handler: async ({ path }, { files }) => { const bytes = await files.readBytes(path); return btoa(String.fromCharCode(...bytes)); } },
  },
};`;
const native = `export default {
  name: 'native',
  permissions: { run: ['sh', 'jq', 'python3'], read: ['in'], write: ['out'] },
  handler: ({ command, args, ...options }, context) => context.run(command, args, options),
};`;
const config = {
  grantRequested: true,
  docker: {
    commands: { gm: testImages.media, jq: testImages.tools, sh: testImages.box, python3: testImages.python },
    warm: { perImage: 0, total: 0 },
  },
  builtins: { execute_command: testImages.box },
};
/** Six pixels, in the plain format that everybody reads. */
const picture = 'P3\n3 2\n255\n255 0 0 0 255 0 0 0 255 9 9 9 1 1 1 2 2 2\n';

describeDocker('native commands of a daemon', () => {
  const docker = new Docker({ socketPath: '/var/run/docker.sock' });
  let folder: string;
  let daemon: DaemonProcess;
  const containers = () =>
    docker.listContainers({ all: true, filters: { label: [`${ownerLabel}=${nameOwner(`${folder}/.hotcell`)}`] } });
  const nothingLeft = async () => {
    const left = await eventually(containers, (found) => found.length === 0);
    expect(left.map(({ State }) => State)).toEqual([]);
  };
  const run = (command: string, args: readonly string[], options: object = {}) =>
    daemon.call('native', { command, args, ...options });
  const sh = (script: string, options: object = {}) => run('sh', ['-c', script], options);
  /** The container in which `sleep` runs by now. */
  const findSleeper = () => findRunning(docker, async () => (await containers()).map(({ Id }) => Id), 'sleep');
  const isFine = async () => {
    expect(await sh('echo fine')).toMatchObject({ status: 'success', output: { stdout: 'fine\n' } });
  };

  beforeAll(async () => {
    folder = makeDaemonFolder({ 'thumbnail.ts': documented, 'files.ts': files, 'native.ts': native }, config);
    daemon = await startDaemonProcess(folder);
  }, 30_000);
  afterAll(async () => {
    await daemon?.stop();
    await nothingLeft();
    removeDaemonFolder(folder);
  }, 30_000);

  it('turns a file of the workspace into another one with a real program, from the command line and over HTTP', async () => {
    const put = { path: 'pictures/dot.ppm', base64: Buffer.from(picture).toString('base64') };
    expect(await daemon.call('put', put)).toMatchObject({ status: 'success' });
    const cli = spawn(process.execPath, [bin, 'call', 'thumbnail', 'picture=pictures/dot.ppm', 'width:=2'], { cwd: folder });
    let said = '';
    for (const stream of [cli.stdout, cli.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
    const [exitCode] = await once(cli, 'close');
    expect([exitCode, said]).toEqual([0, expect.stringContaining('pictures/dot.ppm.small.png')]);

    const response = await fetch(`${daemon.url}/api/tools/thumbnail/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { picture: 'pictures/dot.ppm', width: 1 } }),
    });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: 'success', output: { files: ['pictures/dot.ppm.small.png'] } },
    ]);
    const { output } = await daemon.call('get', { path: 'pictures/dot.ppm.small.png' });
    const png = Buffer.from(String(output), 'base64');
    expect([png.subarray(1, 4).toString(), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(['PNG', 1, 1]);
  });

  it('gives a program its arguments and input as they are, and its answer back', async () => {
    const answer = await run('jq', ['-c', '[.[] | select(.total > 10) | .id]'], {
      stdin: '[{"id":1,"total":5},{"id":2,"total":50}]',
    });
    expect(answer).toMatchObject({
      status: 'success',
      output: { exitCode: 0, stdout: '[2]\n', stderr: '', files: [], left: [] },
    });
  });

  it('refuses commands, files and images beyond the grant, with the way to allow them', async () => {
    const command = await run('gm', ['version']);
    expect(command).toMatchObject({
      status: 'error',
      error: { code: 'permission-denied', message: expect.stringContaining('hotcell grant native run=gm') },
    });
    expect(await sh('true', { files: ['pictures/dot.ppm'] })).toMatchObject({ error: { code: 'permission-denied' } });
    expect(await sh('true', { image: testImages.python })).toMatchObject({ error: { code: 'image-refused' } });
    expect(await sh('echo no > x; mkdir out; echo yes > out/x')).toMatchObject({ output: { files: ['out/x'], left: ['x'] } });
  });

  const attacks = [
    [
      'forks without end',
      'bomb() { bomb | bomb & }; bomb & exec sleep 100',
      { timeoutMs: 1500 },
      'time-exceeded',
      'The command "sh" did not end within 1500 ms.',
    ],
    [
      'takes all memory',
      'a=x; while :; do a=$a$a; done',
      {},
      'memory-exceeded',
      'The command "sh" used all the memory of its container.',
    ],
    [
      'writes without end',
      'yes',
      {},
      'output-exceeded',
      'The command wrote far more than the 100000 bytes that are kept, and was ended.',
    ],
    [
      'ignores SIGTERM',
      'trap "" TERM; while :; do sleep 1; done',
      { timeoutMs: 300 },
      'time-exceeded',
      'The command "sh" did not end within 300 ms.',
    ],
    [
      'leaves more than may come back',
      'mkdir out; dd if=/dev/zero of=out/x bs=1M count=60 2>/dev/null; echo > out/y; i=0; while [ $i -lt 11000 ]; do : > out/$i; i=$((i+1)); done',
      {},
      'payload-too-large',
      'The command left',
    ],
  ] as const;
  it.each(attacks)('end the call of a command that %s in words, and go on', async (_what, script, options, code, message) => {
    const answer = await sh(script, options);
    expect(answer).toMatchObject({
      status: code === 'time-exceeded' ? expect.stringMatching(/^(?:error|timeout)$/) : 'error',
      error: { code, message: expect.stringContaining(message) },
    });
    const record = await daemon.client.invoke(executionContracts.get, { id: answer.executionId });
    expect(record).toMatchObject({ status: answer.status, error: { code } });
    await isFine();
    await nothingLeft();
  });

  it('meets the end of its disk within the container', async () => {
    const answer = await sh(
      'dd if=/dev/zero of=/workspace/x bs=1M count=200 2>&1; rm x; dd if=/dev/zero of=/tmp/x bs=1M count=200 2>&1',
    );
    expect(String(Object(answer.output).stdout).match(/No space left on device/g)).toHaveLength(2);
    await nothingLeft();
  });

  it('goes on beside bombs: each has a container, a share and an end of its own', async () => {
    const ending = Promise.all([
      sh('bomb() { bomb | bomb & }; bomb & exec sleep 100', { timeoutMs: 3000 }),
      sh('a=x; while :; do a=$a$a; done'),
      sh('yes'),
      sh('while :; do :; done', { timeoutMs: 3000 }),
    ]);
    await isFine();
    const ends = await ending;
    expect(ends.map(({ error }) => error?.code)).toEqual([
      'time-exceeded',
      'memory-exceeded',
      'output-exceeded',
      'time-exceeded',
    ]);
    await isFine();
    await nothingLeft();
  });

  it('has a tenth of a processor as execute_command, and a whole one as context.run', async () => {
    const readCpus = async (calling: Promise<unknown>): Promise<number | undefined> => {
      const { HostConfig: host } = await docker.getContainer(await findSleeper()).inspect();
      await daemon.client.invoke(containerContracts.kill, {});
      await calling;
      await nothingLeft();
      return host.NanoCpus;
    };
    expect(await readCpus(daemon.call('execute_command', { command: 'sleep 100' }))).toBe(1e8);
    expect(await readCpus(sh('sleep 100'))).toBe(1e9);
  });

  it('is ended by a cancel of its call, at once and with its container', async () => {
    const calling = sh('sleep 100');
    const { items } = await eventually(
      () => daemon.client.invoke(executionContracts.list, { status: 'running' }),
      ({ items: found }) => found.length > 0,
    );
    await findSleeper();
    await daemon.client.invoke(executionContracts.cancel, { id: items[0]?.id ?? '' });
    expect(await calling).toMatchObject({ status: 'cancelled' });
    await nothingLeft();
    await isFine();
  });

  it('is seen and ended by an operator, from the command line and over HTTP', async () => {
    const first = sh('sleep 100');
    await findSleeper();
    const list = spawnSync(process.execPath, [bin, 'containers'], { cwd: folder, encoding: 'utf8' });
    expect(list.stdout).toMatch(/exe_\S+\s+sh\s+hotcell-test\/box:2/);
    const killed = spawnSync(process.execPath, [bin, 'containers', 'kill', '--all'], { cwd: folder, encoding: 'utf8' });
    expect([killed.stdout, killed.status]).toEqual(['✓ 1 ended.\n', 0]);
    expect(await first).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('An operator ended what ran in the container.') },
    });
    await nothingLeft();
    const second = sh('sleep 100');
    await findSleeper();
    const { items } = await daemon.client.invoke(containerContracts.list, {});
    expect(await daemon.client.invoke(containerContracts.kill, { id: items[0]?.id ?? '' })).toEqual({ killed: 1 });
    expect(await second).toMatchObject({ status: 'error' });
    expect(await daemon.client.invoke(containerContracts.list, {})).toEqual({ items: [], total: 0 });
    const unclear = spawnSync(process.execPath, [bin, 'containers', 'kill'], { cwd: folder, encoding: 'utf8' });
    expect([unclear.status, unclear.stderr]).toEqual([2, expect.stringContaining('takes the id of one, or --all')]);
  });

  it('is told in true words when its container is killed from outside', async () => {
    const calling = sh('sleep 100');
    const id = await findSleeper();
    await docker.getContainer(id).kill();
    expect(await calling).toMatchObject({
      status: 'error',
      error: {
        code: 'engine-failed',
        message: expect.stringContaining('The container was ended from outside while the command ran'),
      },
    });
    await nothingLeft();
    await isFine();
  });

  it('leaves a container behind when the daemon is killed, and the next daemon removes it', async () => {
    const calling = sh('sleep 100').catch(() => undefined);
    await findSleeper();
    await daemon.kill();
    await calling;
    // Whose daemon is gone ends by itself: it uses nothing while it waits to be removed.
    const [left] = await eventually(containers, (found) => found.every(({ State }) => State === 'exited'));
    expect(left?.State).toBe('exited');
    daemon = await startDaemonProcess(folder);
    await nothingLeft();
    await isFine();
  }, 30_000);

  it('shows which images are there', async () => {
    const { items } = await daemon.client.invoke(imageContracts.list, {});
    expect(items.find(({ name }) => name === testImages.media)).toMatchObject({ status: 'present', usedBy: ['context.run gm'] });
    // How to get an image is told where something would run in it.
    for (const { name, usedBy, fix } of items.filter(({ status }) => status === 'missing')) {
      expect([name, fix?.includes(`docker pull ${name}`) ?? false]).toEqual([name, usedBy.length > 0]);
    }
    const { stdout } = spawnSync(process.execPath, [bin, 'doctor', '--json'], { cwd: folder, encoding: 'utf8' });
    expect(stdout).toMatch(/Docker [\d.]+\S* answers at \/var\/run\/docker\.sock/);
  });
});
