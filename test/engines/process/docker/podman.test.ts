import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFetch } from '../../../../src/capabilities/fetch.ts';
import { defaultSettings } from '../../../../src/config/schema.ts';
import { createUser } from '../../../capabilities/capability-user.ts';
import { handlerOf } from '../deno/deno-rig.ts';
import { eventually, isDockerReady, openRunnerHouse, type RunnerHouse, testImages, text } from './docker-machine.ts';
import { createDockerRig } from './engine/engine-rig.ts';

const has = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;
const canStart = isDockerReady && process.getuid?.() === 0 && has('podman') && has('runc');
if (!canStart) console.warn('Podman is not tried here: as root, apt-get install podman runc');

describe.skipIf(!canStart)('createCommandRunner, with Podman', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hc-podman-'));
  const socket = join(folder, 's');
  // The default runtime of Debian's Podman does not start on machines with both versions of control groups.
  const options = [
    '--root',
    join(folder, 'root'),
    '--runroot',
    join(folder, 'run'),
    '--runtime',
    'runc',
    '--cgroup-manager',
    'cgroupfs',
  ];
  let service: ChildProcess;
  let house: RunnerHouse;

  beforeAll(async () => {
    for (const image of [testImages.box, testImages.python, testImages.node]) {
      spawnSync('sh', ['-c', `docker save ${image} | podman ${options.join(' ')} load`], { stdio: 'ignore' });
    }
    service = spawn('podman', [...options, 'system', 'service', '--time=0', `unix://${socket}`], { stdio: 'ignore' });
    const client = new Docker({ socketPath: socket });
    await eventually(
      () =>
        client.ping().then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    house = openRunnerHouse({ socket });
  }, 60_000);
  afterAll(async () => {
    await house?.close();
    const left = await house?.containers();
    const over = once(service, 'exit');
    service.kill('SIGTERM');
    await over;
    // Podman still tidies up behind ended containers, and mounts its folder again for that.
    const isGone = await eventually(async () => {
      spawnSync('umount', [join(folder, 'root/overlay')], { stdio: 'ignore' });
      return spawnSync('rm', ['-rf', folder], { stdio: 'ignore' }).status === 0;
    }, Boolean);
    expect(isGone).toBe(true);
    expect(left).toEqual([]);
  }, 60_000);

  it('runs a command with files in and out, and every byte of its input', async () => {
    // Two of these bytes are what Podman's own client takes for a wish to leave.
    const every = Buffer.from(Array.from({ length: 2560 }, (_, index) => index % 256));
    const result = await house.sh('cat > out; cat in; echo err >&2; exit 3', {
      stdin: every,
      files: [{ path: 'in', data: every }],
      collectBytes: 10_000,
    });
    expect([result.exitCode, Buffer.from(result.stdout).equals(every), text(result.stderr)]).toEqual([3, true, 'err\n']);
    expect(result.files.map(({ path, data }) => [path, Buffer.from(data).equals(every)])).toEqual([['out', true]]);
  });

  it('keeps every flag, and what Podman opens by itself stays closed', async () => {
    const { stdout } = await house.sh(
      'grep -E "^(Uid|CapBnd|NoNewPrivs|Seccomp:)" /proc/self/status; for d in /tmp /workspace; do cat /bin/busybox > $d/mine; chmod +x $d/mine; $d/mine true 2>&1; done; for d in /run /var/tmp /dev/shm /etc /; do (echo x > $d/x) 2>/dev/null && echo "wrote $d"; done; cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/memory/memory.limit_in_bytes; true',
    );
    const said = text(stdout);
    expect(said).toMatch(/Uid:\s+65534\s.*\n(?:.*\n)*CapBnd:\s+0{16}\n(?:.*\n)*NoNewPrivs:\s+1\n(?:.*\n)*Seccomp:\s+2/);
    expect(said.match(/Permission denied/g)).toHaveLength(2);
    expect(said).not.toContain('wrote');
    if (!said.includes('No such file')) expect(said).toMatch(/^100\n268435456$/m);
  });

  it('ends what does not end, what takes all memory and what writes without end', async () => {
    const late = await house.fail(house.sh('trap "" TERM; while :; do sleep 1; done', { timeoutMs: 300 }));
    const large = await house.fail(house.sh('a=x; while :; do a=$a$a; done'));
    const loud = await house.fail(house.sh('yes'));
    expect([late.code, large.code, loud.code]).toEqual(['time-exceeded', 'memory-exceeded', 'output-exceeded']);
  });

  it('has no network but the proxy of the daemon', async () => {
    const web = createServer((_request, response) => response.end('hello'));
    await once(web.listen(0, '127.0.0.1'), 'listening');
    const place = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    const fetch = createFetch({ network: defaultSettings.network, resolve: async () => [] });
    const get = `import sys, urllib.request\nprint(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())`;
    const ask = (net: string[]) => {
      const user = createUser({ net });
      return house.run('python3', ['-c', get, `http://${place}/`], {
        image: testImages.python,
        ...(net.length > 0 ? { dial: (to, signal) => fetch.dial(to, user, signal) } : {}),
      });
    };
    expect(text((await ask([place])).stdout)).toBe('hello\n');
    expect(text((await ask(['api.example.com'])).stderr)).toContain('HTTP Error 403');
    expect(text((await ask([])).stderr)).toContain('refused');
    web.close();
    await fetch.close?.();
  });

  it('runs whole plugins, and keeps their limits', async () => {
    const rig = createDockerRig({ socket });
    try {
      const answer = async () => ({ ok: true, payload: '"kept"' }) as const;
      const body = "console.log('here'); return [await context.kv.get('a'), process.getuid()]";
      const outcome = await rig.run(handlerOf(body), { answer });
      expect(outcome).toMatchObject({ output: ['kept', 65534], logs: [{ text: 'here' }] });
      expect(await rig.run(handlerOf('for (;;);'), { limits: { cpuMs: 500 } })).toMatchObject({
        error: { code: 'time-exceeded', message: expect.stringContaining('500 ms of processor time') },
      });
      const fills = 'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));';
      expect(await rig.run(handlerOf(fills))).toMatchObject({ error: { code: 'memory-exceeded' } });
    } finally {
      await rig.close();
    }
    expect(await rig.house.containers()).toEqual([]);
  });

  it('sweeps what a crashed daemon left', async () => {
    await house.runner.settled();
    const other = openRunnerHouse({ socket });
    await other.run('true', []);
    await other.runner.settled();
    const next = openRunnerHouse({ socket }, other.dataDir);
    expect(await next.runner.sweep()).toBeGreaterThan(0);
    expect(await next.containers()).toEqual([]);
    await next.runner.close();
    await other.close();
  });
});
