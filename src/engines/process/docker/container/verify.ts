import type { ContainerInspectInfo } from 'dockerode';
import { type ContainerPlan, type ContainerRuntime, initTarget, nobody } from './container-flags.ts';

/**
 * Compares what Docker says it made with what was asked for: the names of the flags that did not hold. A runtime that takes
 * a flag and drops it must not be used.
 */
export function findIgnoredFlags(
  made: ContainerInspectInfo,
  plan: ContainerPlan,
  runtime: ContainerRuntime = 'docker',
): string[] {
  const { HostConfig: host, Config: config, NetworkSettings: network } = made;
  const { size } = plan;
  const security: readonly string[] = host.SecurityOpt ?? [];
  const mounts = (made.Mounts ?? []).filter((mount) => mount.Type !== 'tmpfs');
  const checks: Readonly<Record<string, boolean>> = {
    image: made.Image.replace(/^sha256:/, '') === plan.imageId.replace(/^sha256:/, ''),
    user: config.User === nobody,
    entrypoint: [config.Entrypoint].flat().join(' ') === initTarget && (config.Cmd ?? []).length === 0,
    'network none':
      host.NetworkMode === 'none' && Object.keys(network?.Networks ?? {}).every((name) => name === 'none' || name === ''),
    'cap-drop ALL': dropsAll(host.CapDrop ?? []) && (host.CapAdd ?? []).length === 0,
    'no-new-privileges': security.some((option) => /^no-new-privileges(?:[:=]true)?$/.test(option)),
    'seccomp profile': !security.some((option) => /unconfined/.test(option)),
    'pids limit': host.PidsLimit === size.pids,
    'cpu limit': host.NanoCpus === Math.round(size.cpus * 1e9) || readQuota(host) === size.cpus,
    'memory limit': host.Memory === size.memoryBytes && host.MemorySwap === size.memoryBytes && host.OomKillDisable !== true,
    'read-only root': host.ReadonlyRootfs === true,
    'not privileged': host.Privileged === false && (host.Devices ?? []).length === 0,
    // Podman says `shareable` of every namespace of a container's own, also of one without shared memory.
    'private ipc': ['none', 'private', ...(runtime === 'podman' ? ['shareable'] : [])].includes(host.IpcMode ?? ''),
    'own namespaces': host.PidMode !== 'host' && host.UTSMode !== 'host' && host.UsernsMode !== 'host',
    'no logs on disk': host.LogConfig?.Type === 'none',
    'no restart': ['', 'no'].includes(host.RestartPolicy?.Name ?? ''),
    'limit of open files': (host.Ulimits ?? []).some(({ Name, Hard }) => /nofile$/i.test(Name ?? '') && Hard === 1024),
    mounts: mounts.length === 1 && mounts[0]?.Destination === initTarget && mounts[0].RW === false,
  };
  return Object.entries(checks).flatMap(([name, holds]) => (holds ? [] : [name]));
}

/**
 * Reads what the kernel told the first process of the container (`/proc/self/status`, the network devices, the flags of the
 * mounts) and names what is weaker than it must be.
 */
export function findWeakSpots(hello: string): string[] {
  const facts = new Map<string, string>();
  const devices: string[] = [];
  const mounts = new Map<string, string>();
  for (const line of hello.split('\n')) {
    const [, name = '', value = ''] = /^\s*([\w.-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === 'Mount') mounts.set(value.split(' ')[0] ?? '', value.split(' ')[1] ?? '');
    else if (/^\d+\s+\d+\s/.test(value) && /^[a-z]/.test(name)) devices.push(name);
    else if (!facts.has(name)) facts.set(name, value.trim());
  }
  const ids = (name: string) => (facts.get(name) ?? '0').split(/\s+/);
  const checks: Readonly<Record<string, boolean>> = {
    user: [...ids('Uid'), ...ids('Gid')].every((id) => id === '65534'),
    'no-new-privileges': facts.get('NoNewPrivs') === '1',
    'seccomp profile': facts.get('Seccomp') === '2',
    'cap-drop ALL': ['CapEff', 'CapPrm', 'CapBnd', 'CapInh', 'CapAmb'].every((name) => /^0+$/.test(facts.get(name) ?? '')),
    'network none': devices.every((name) => name === 'lo' || /^(?:tunl|sit|ip6tnl|ip6gre|gre|erspan|ip_vti|ip6_vti)/.test(name)),
    'read-only root': mounts.get('/')?.startsWith('1') ?? false,
    'noexec /tmp': isScratch(mounts.get('/tmp')),
    'noexec /workspace': isScratch(mounts.get('/workspace')),
  };
  return Object.entries(checks).flatMap(([name, holds]) => (holds ? [] : [name]));
}

/** ST_RDONLY, ST_NOSUID, ST_NODEV, ST_NOEXEC, as four digits. */
function isScratch(flags: string | undefined): boolean {
  return flags === '0111';
}

/** Podman answers with the names of all that are dropped. */
function dropsAll(dropped: readonly string[]): boolean {
  return dropped.some((name) => name.toUpperCase() === 'ALL') || dropped.length >= 10;
}

function readQuota({ CpuQuota = 0, CpuPeriod = 0 }: ContainerInspectInfo['HostConfig']): number {
  return CpuPeriod > 0 ? CpuQuota / CpuPeriod : 0;
}
