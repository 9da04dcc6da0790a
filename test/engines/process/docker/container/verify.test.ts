import type { ContainerInspectInfo } from 'dockerode';
import { describe, expect, it } from 'vitest';
import { type ContainerPlan, defaultSize } from '../../../../../src/engines/process/docker/container/container-flags.ts';
import { findIgnoredFlags, findWeakSpots } from '../../../../../src/engines/process/docker/container/verify.ts';

const plan: ContainerPlan = { imageId: 'sha256:aa', size: defaultSize, initFile: '/x/init', owner: 'me' };

const initMount = { Type: 'bind', Destination: '/.hotcell-init', RW: false };

/** What Docker answers of a container that is as it should be, but for `changes` by path: the fields that are looked at. */
function look(changes: Readonly<Record<string, unknown>>, runtime: 'docker' | 'podman' = 'docker'): string[] {
  const made: Record<string, unknown> = {
    Image: 'sha256:aa',
    Mounts: [initMount],
    Config: { User: '65534:65534', Entrypoint: ['/.hotcell-init'], Cmd: null },
    NetworkSettings: { Networks: { none: {} } },
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      CapAdd: null,
      SecurityOpt: ['no-new-privileges'],
      PidsLimit: 100,
      NanoCpus: 1e9,
      CpuQuota: 0,
      CpuPeriod: 0,
      Memory: 268_435_456,
      MemorySwap: 268_435_456,
      OomKillDisable: false,
      ReadonlyRootfs: true,
      Privileged: false,
      Devices: [],
      IpcMode: 'none',
      PidMode: '',
      UTSMode: '',
      UsernsMode: '',
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none', Config: {} },
      Ulimits: [{ Name: 'nofile', Soft: 1024, Hard: 1024 }],
    },
  };
  for (const [path, value] of Object.entries(changes)) {
    const [group = '', name] = path.split('.');
    made[group] = name === undefined ? value : { ...Object(made[group]), [name]: value };
  }
  // Docker has many more fields; nothing else is read of them.
  return findIgnoredFlags(made as unknown as ContainerInspectInfo, plan, runtime);
}

describe('findIgnoredFlags', () => {
  it('finds nothing where everything holds, in the words of Docker and of Podman', () => {
    expect(look({})).toEqual([]);
    const capabilities = 'chown dac_override fowner fsetid kill net_bind_service setfcap setgid setpcap setuid sys_chroot'.split(
      ' ',
    );
    const asPodman = {
      Image: 'aa',
      'HostConfig.IpcMode': 'shareable',
      'HostConfig.CapDrop': capabilities.map((name) => `CAP_${name.toUpperCase()}`),
      'HostConfig.NanoCpus': 0,
      'HostConfig.CpuQuota': 100_000,
      'HostConfig.CpuPeriod': 100_000,
      'HostConfig.Ulimits': [{ Name: 'RLIMIT_NOFILE', Soft: 1024, Hard: 1024 }],
    };
    expect(look(asPodman, 'podman')).toEqual([]);
    expect(look(asPodman)).toEqual(['private ipc']);
  });

  it.each<readonly [string, string, unknown]>([
    ['image', 'Image', 'sha256:bb'],
    ['user', 'Config.User', ''],
    ['user', 'Config.User', '0:0'],
    ['entrypoint', 'Config.Entrypoint', ['/bin/sh', '-c']],
    ['entrypoint', 'Config.Entrypoint', null],
    ['entrypoint', 'Config.Cmd', ['x']],
    ['network none', 'HostConfig.NetworkMode', 'bridge'],
    ['network none', 'HostConfig.NetworkMode', 'host'],
    ['network none', 'NetworkSettings.Networks', { none: {}, bridge: {} }],
    ['cap-drop ALL', 'HostConfig.CapDrop', null],
    ['cap-drop ALL', 'HostConfig.CapDrop', ['NET_RAW']],
    ['cap-drop ALL', 'HostConfig.CapAdd', ['SYS_ADMIN']],
    ['no-new-privileges', 'HostConfig.SecurityOpt', null],
    ['no-new-privileges', 'HostConfig.SecurityOpt', ['no-new-privileges=false']],
    ['seccomp profile', 'HostConfig.SecurityOpt', ['no-new-privileges', 'seccomp=unconfined']],
    ['pids limit', 'HostConfig.PidsLimit', 0],
    ['pids limit', 'HostConfig.PidsLimit', -1],
    ['cpu limit', 'HostConfig.NanoCpus', 0],
    ['memory limit', 'HostConfig.Memory', 0],
    ['memory limit', 'HostConfig.MemorySwap', -1],
    ['memory limit', 'HostConfig.MemorySwap', 536_870_912],
    ['memory limit', 'HostConfig.OomKillDisable', true],
    ['read-only root', 'HostConfig.ReadonlyRootfs', false],
    ['not privileged', 'HostConfig.Privileged', true],
    ['not privileged', 'HostConfig.Devices', [{ PathOnHost: '/dev/sda' }]],
    ['private ipc', 'HostConfig.IpcMode', 'host'],
    ['private ipc', 'HostConfig.IpcMode', 'container:abc'],
    ['own namespaces', 'HostConfig.PidMode', 'host'],
    ['own namespaces', 'HostConfig.UTSMode', 'host'],
    ['own namespaces', 'HostConfig.UsernsMode', 'host'],
    ['no logs on disk', 'HostConfig.LogConfig', { Type: 'json-file' }],
    ['no restart', 'HostConfig.RestartPolicy', { Name: 'always' }],
    ['limit of open files', 'HostConfig.Ulimits', null],
    ['mounts', 'Mounts', [initMount, { Type: 'bind', Destination: '/host', RW: true }]],
    ['mounts', 'Mounts', [initMount, { Type: 'volume', Destination: '/data', RW: true }]],
    ['mounts', 'Mounts', [{ ...initMount, RW: true }]],
    ['mounts', 'Mounts', []],
  ])('names a dropped or changed flag: %s (%s)', (name, path, value) => {
    expect(look({ [path]: value })).toEqual([name]);
  });
});

const hello = `Name:\thotcell-init
Uid:\t65534\t65534\t65534\t65534
Gid:\t65534\t65534\t65534\t65534
CapInh:\t0000000000000000
CapPrm:\t0000000000000000
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
CapAmb:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0

Mount:\t/ 1000
Mount:\t/tmp 0111
Mount:\t/workspace 0111
`;

describe('findWeakSpots', () => {
  it('finds nothing where the kernel says what it should', () => {
    expect(findWeakSpots(hello)).toEqual([]);
    expect(
      findWeakSpots(
        hello.replace('    lo:', ' tunl0:       0       0    0    0    0     0          0         0        0 0\n    lo:'),
      ),
    ).toEqual([]);
  });

  it.each([
    ['user', 'Uid:\t65534\t65534\t65534\t65534', 'Uid:\t65534\t0\t65534\t65534'],
    ['user', 'Gid:\t65534', 'Gid:\t0'],
    ['user', /Uid:.*\n/, ''],
    ['no-new-privileges', 'NoNewPrivs:\t1', 'NoNewPrivs:\t0'],
    ['no-new-privileges', /NoNewPrivs.*\n/, ''],
    ['seccomp profile', 'Seccomp:\t2', 'Seccomp:\t0'],
    ['cap-drop ALL', 'CapEff:\t0000000000000000', 'CapEff:\t00000000a80425fb'],
    ['cap-drop ALL', 'CapBnd:\t0000000000000000', 'CapBnd:\t0000000000000001'],
    ['cap-drop ALL', /CapAmb.*\n/, ''],
    ['network none', '    lo:', '  eth0:       0       0    0    0    0     0          0         0        0       0\n    lo:'],
    ['read-only root', '/ 1000', '/ 0000'],
    ['read-only root', /Mount:\t\/ .*\n/, ''],
    ['noexec /tmp', '/tmp 0111', '/tmp 0110'],
    ['noexec /tmp', '/tmp 0111', '/tmp 0011'],
    ['noexec /workspace', '/workspace 0111', '/workspace 1000'],
    ['noexec /workspace', /Mount:\t\/workspace.*\n/, ''],
  ] as const)('names what is weaker: %s', (name, from, to) => {
    expect(findWeakSpots(hello.replace(from, to))).toEqual([name]);
  });

  it('takes no word of an answer that is none', () => {
    for (const rubbish of ['', 'Uid', '\0\0\0', 'Mount:\t/ 1', hello.slice(200)]) expect(findWeakSpots(rubbish)).not.toEqual([]);
  });
});
