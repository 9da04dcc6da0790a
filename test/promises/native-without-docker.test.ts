import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { isDockerReady, testImages } from '../engines/process/docker/docker-machine.ts';
import { canStartDocker, startSecondDocker } from '../engines/process/docker/second-docker.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from './daemon-process.ts';

const bin = fileURLToPath(new URL('../../bin/hotcell.js', import.meta.url));
const native = `export default {
  name: 'native',
  permissions: { run: ['sh', 'cat'] },
  handler: ({ command = 'sh', args, ...options }, context) => context.run(command, args, options),
};`;
const plain = "export default { name: 'plain', handler: () => 'still here' };";

/** A daemon over these plugins, with an engine at `host` and this config of it. */
async function open(host: string, docker: object = {}): Promise<DaemonHouse> {
  const folder = makeDaemonFolder(
    { 'native.ts': native, 'plain.ts': plain },
    { grantRequested: true, docker: { commands: { sh: testImages.box }, ...docker } },
  );
  vi.stubEnv('DOCKER_HOST', host);
  return openDaemonHouse(folder);
}

describe('native commands where there is no Docker', () => {
  const ends: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    vi.unstubAllEnvs();
  });
  const openHere: typeof open = async (...args) => {
    const daemon = await open(...args);
    ends.push(async () => {
      await daemon.close();
      removeDaemonFolder(daemon.folder);
    });
    return daemon;
  };
  const expectHarmless = async (daemon: DaemonHouse) => {
    expect(await daemon.call('plain')).toMatchObject({ status: 'success', output: 'still here' });
  };

  it('says what to install, in the call and in the doctor, and everything else goes on', async () => {
    const daemon = await openHere('unix:///nowhere/docker.sock');
    expect(await daemon.call('native', { args: ['-c', 'true'] })).toMatchObject({
      status: 'error',
      error: {
        code: 'docker-missing',
        message: expect.stringMatching(
          /^Docker does not answer.* Install and start it: apt-get install docker\.io \(or podman\)/,
        ),
      },
    });
    const stdout = await promisify(execFile)(process.execPath, [bin, 'doctor'], { cwd: daemon.folder }).then(
      (said) => said.stdout,
      (error: unknown) => String(Object(error).stdout),
    );
    expect(stdout).toContain('Docker does not answer, and it is needed');
    expect(stdout).toContain('apt-get install docker.io');
    await expectHarmless(daemon);
  }, 30_000);

  it('refuses an engine on another machine', async () => {
    const daemon = await openHere('tcp://192.0.2.1:2375');
    expect(await daemon.call('native', { args: [] })).toMatchObject({
      error: { code: 'docker-missing', message: expect.stringContaining('DOCKER_HOST is no local socket') },
    });
    await expectHarmless(daemon);
  }, 30_000);

  it('ends a call at its time when the socket takes the question and never answers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hc-mute-'));
    const sockets = new Set<Socket>();
    const mute: Server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
    await once(mute.listen(join(folder, 's')), 'listening');
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      mute.close();
      rmSync(folder, { recursive: true });
    });
    const daemon = await openHere(`unix://${folder}/s`);
    const answer = await daemon.client.invoke(toolContracts.call, {
      ref: 'native',
      arguments: { args: [] },
      timeoutMs: 500,
    });
    expect(answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    await expectHarmless(daemon);
  }, 30_000);

  it('says of what answers but is no Docker that it failed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hc-odd-'));
    const odd = createServer((socket) => socket.on('error', () => undefined).end('SSH-2.0-nonsense\r\n\r\n'));
    await once(odd.listen(join(folder, 's')), 'listening');
    ends.push(() => {
      odd.close();
      rmSync(folder, { recursive: true });
    });
    const daemon = await openHere(`unix://${folder}/s`);
    expect(await daemon.call('native', { args: [] })).toMatchObject({
      error: { code: 'engine-failed', message: expect.stringMatching(/^Docker failed to look at images/) },
    });
    await expectHarmless(daemon);
  }, 30_000);

  it.skipIf(process.getuid?.() !== 0 || !isDockerReady)(
    'says of a socket without permission how to get it',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'hc-nobody-'));
      chmodSync(folder, 0o755);
      ends.push(() => rmSync(folder, { recursive: true }));
      mkdirSync(join(folder, 'plugins'));
      writeFileSync(join(folder, 'plugins/native.ts'), native);
      writeFileSync(
        join(folder, 'hotcell.config.json'),
        JSON.stringify({
          port: 0,
          grantRequested: true,
          docker: { socket: '/var/run/docker.sock', commands: { sh: 'x:1' } },
        }),
      );
      for (const name of ['', 'plugins', 'plugins/native.ts', 'hotcell.config.json'])
        chownSync(join(folder, name), 65_534, 65_534);
      const child = spawn(process.execPath, [bin, 'call', 'native', '--json', '{"args":[]}'], {
        cwd: folder,
        uid: 65_534,
        gid: 65_534,
        env: { PATH: process.env.PATH, HOME: folder, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (bytes: Buffer) => {
          said += bytes.toString();
        });
      }
      const [exitCode] = await once(child, 'close');
      expect([exitCode, said]).toEqual([
        1,
        expect.stringContaining('The socket of Docker may not be opened by the user of the daemon.'),
      ]);
      expect(said).toContain('Add the user to the group docker');
    },
    30_000,
  );

  it.skipIf(!canStartDocker || !isDockerReady)(
    'ends the call when Docker is restarted in its middle, and runs the next',
    async () => {
      const engine = await startSecondDocker(testImages.box);
      ends.push(() => engine.close());
      const daemon = await openHere(engine.host);
      expect(await daemon.call('native', { args: ['-c', 'echo one'] })).toMatchObject({ output: { stdout: 'one\n' } });
      const calling = daemon.call('native', { args: ['-c', 'sleep 100'] });
      const isAsleep = async (): Promise<boolean> => {
        const found = await engine.docker.listContainers();
        const tops = await Promise.all(
          found.map(({ Id }) =>
            engine.docker
              .getContainer(Id)
              .top()
              .catch(() => undefined),
          ),
        );
        return /"sleep/.test(JSON.stringify(tops));
      };
      await until(isAsleep, 'the command in its container');
      await engine.end('SIGKILL');
      await engine.start();
      expect(await calling).toMatchObject({
        status: 'error',
        error: { code: 'engine-failed', message: expect.stringContaining('while the command ran') },
      });
      expect(await daemon.call('native', { args: ['-c', 'echo two'] })).toMatchObject({ output: { stdout: 'two\n' } });
      await daemon.close();
      expect(await engine.docker.listContainers({ all: true })).toEqual([]);
    },
    60_000,
  );
});
