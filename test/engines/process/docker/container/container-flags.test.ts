import type { ContainerInspectInfo } from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultSettings } from '../../../../../src/config/schema.ts';
import { describeContainer } from '../../../../../src/engines/process/docker/container/container-flags.ts';
import { describeDocker, eventually, openRunnerHouse, type RunnerHouse, text } from '../docker-machine.ts';

const mib = 1024 * 1024;

describeDocker('a container, as Docker tells of it', () => {
  let house: RunnerHouse;
  beforeAll(() => {
    house = openRunnerHouse({ warm: { perImage: 0, total: 0, idleMs: 60_000 } });
  });
  afterAll(() => house.close());

  /** What `docker inspect` says while a command runs. */
  async function inspectWhile(more: { cpus?: number } = {}): Promise<ContainerInspectInfo> {
    await eventually(
      () => house.containers(),
      (ids) => ids.length === 0,
    );
    const running = house.fail(house.run('sleep', ['100'], more));
    const [id = ''] = await eventually(
      () => house.containers(),
      (ids) => ids.length > 0,
    );
    const made = await eventually(
      () => house.docker.getContainer(id).inspect(),
      ({ State }) => State.Running,
    );
    await house.runner.killAll();
    await running;
    return made;
  }

  it('has every flag that it should', async () => {
    const { HostConfig: host, Config: config, Mounts: mounts, Name: name } = await inspectWhile();
    expect(host).toMatchObject({
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      CapAdd: null,
      SecurityOpt: ['no-new-privileges'],
      PidsLimit: 100,
      NanoCpus: 1e9,
      Memory: 256 * mib,
      MemorySwap: 256 * mib,
      OomKillDisable: false,
      ReadonlyRootfs: true,
      Privileged: false,
      PublishAllPorts: false,
      IpcMode: 'none',
      PidMode: '',
      UTSMode: '',
      Binds: null,
      VolumesFrom: null,
      AutoRemove: false,
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none' },
    });
    expect(host.Devices ?? []).toEqual([]);
    expect(host.Tmpfs).toEqual({ '/tmp': expect.any(String), '/workspace': expect.any(String) });
    for (const options of Object.values(Object(host.Tmpfs))) {
      expect(String(options).split(',')).toEqual(expect.arrayContaining(['rw', 'noexec', 'nosuid', 'nodev', `size=${64 * mib}`]));
    }
    expect(config).toMatchObject({
      User: '65534:65534',
      Entrypoint: ['/.hotcell-init'],
      Tty: false,
      Labels: { 'dev.hotcell.owner': expect.stringMatching(/^[0-9a-f]{16}$/) },
    });
    expect(mounts).toEqual([expect.objectContaining({ Type: 'bind', Destination: '/.hotcell-init', RW: false })]);
    expect(name).toMatch(/^\/hotcell-[0-9a-f]{8}-[0-9a-f]{12}$/);
  });

  it('has a tenth of a processor where the command may have no more', async () => {
    const { HostConfig: host } = await inspectWhile({ cpus: defaultSettings.builtins.commandCpus });
    expect(host.NanoCpus).toBe(1e8);
  });

  it('keeps the environment of the daemon out, and passes on that of the request', async () => {
    const { Config: config } = await inspectWhile();
    // It reaches the command alone: Docker and its list never see it.
    expect((config.Env ?? []).filter((line) => !line.startsWith('PATH='))).toEqual([]);
    const { stdout } = await house.run('env', [], { env: { TOKEN: 'x=y z', EMPTY: '' } });
    expect(text(stdout)).toMatch(/^TOKEN=x=y z$/m);
    expect(text(stdout)).toMatch(/^EMPTY=$/m);
  });

  it('leaves no memory of a command that crashes on the disk of the host, and under Podman no other folder open', () => {
    const plan = {
      imageId: 'sha256:aa',
      size: { cpus: 1, memoryBytes: 1, pids: 1, scratchBytes: 1 },
      initFile: '/i',
      owner: 'o',
    };
    const describe = (runtime: 'docker' | 'podman') => describeContainer(plan, { name: 'n', runtime }).HostConfig;
    for (const runtime of ['docker', 'podman'] as const) {
      expect(describe(runtime)?.Ulimits).toContainEqual({ Name: 'core', Soft: 0, Hard: 0 });
      expect(describe(runtime)?.Ulimits).toContainEqual({ Name: 'nofile', Soft: 1024, Hard: 1024 });
    }
    const closed = expect.stringMatching(/^ro,noexec,nosuid,nodev,/);
    expect(describe('podman')?.Tmpfs).toMatchObject({ '/run': closed, '/var/tmp': closed });
  });

  it('takes nothing of its image but files and environment: no entrypoint, user, volume, port or health check', () => {
    const plan = {
      imageId: 'sha256:aa',
      size: { cpus: 1, memoryBytes: 1, pids: 1, scratchBytes: 1 },
      initFile: '/i',
      owner: 'o',
    };
    for (const runtime of ['docker', 'podman'] as const) {
      expect(describeContainer(plan, { name: 'n', runtime })).toMatchObject({
        Entrypoint: ['/.hotcell-init'],
        Cmd: [],
        User: '65534:65534',
        Healthcheck: { Test: ['NONE'] },
        HostConfig: { NetworkMode: 'none', ReadonlyRootfs: true },
      });
    }
  });
});

describe('the defaults of containers', () => {
  it('are those that are written down', () => {
    const { memoryBytes, pids, scratchBytes, timeoutMs, maxOutputBytes, images } = defaultSettings.docker;
    expect({ memoryBytes, pids, scratchBytes, timeoutMs, maxOutputBytes, images }).toEqual({
      memoryBytes: 256 * mib,
      pids: 100,
      scratchBytes: 64 * mib,
      timeoutMs: 30_000,
      maxOutputBytes: 100_000,
      images: ['alpine:3.20', 'node:22-alpine', 'python:3.12-alpine'],
    });
  });
});
