import type { ContainerCreateOptions } from 'dockerode';

/** What a container may use. */
export interface ContainerSize {
  /** Processors, such as 0.1. */
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly pids: number;
  /** Size of `/tmp` and of `/workspace`, each, in bytes; they count as memory. */
  readonly scratchBytes: number;
}

const MIB = 1024 * 1024;

/** What commands get: `execute_command` has a tenth of a processor, all others one. */
export const defaultSize: ContainerSize = { cpus: 1, memoryBytes: 256 * MIB, pids: 100, scratchBytes: 64 * MIB };

/** Nobody: owns nothing in any image. */
export const nobody = '65534:65534';

/** Where the first process lies in every container. */
export const initTarget = '/.hotcell-init';

/** The labels by which a daemon finds what it, or a crashed one before it, started. */
export const ownerLabel = 'dev.hotcell.owner';

/** Podman takes other words for a few of the flags. */
export type ContainerRuntime = 'docker' | 'podman';

/** What a container is made from. `imageId` is an id, not a name: names can be moved. */
export interface ContainerPlan {
  readonly imageId: string;
  readonly size: ContainerSize;
  readonly initFile: string;
  readonly owner: string;
}

/** With a read-only root, Podman opens these to everybody and lets run what is written there. */
const closedFolders = { '/run': 'ro,noexec,nosuid,nodev,size=4096', '/var/tmp': 'ro,noexec,nosuid,nodev,size=4096' };
/** Podman's own default for it is more than many machines allow; it counts the processes of all containers together. */
const podmanLimits = [{ Name: 'nproc', Soft: 16_384, Hard: 16_384 }];

/** What one container is called, and by whom it is made. */
export interface ContainerIdentity {
  readonly name: string;
  readonly runtime: ContainerRuntime;
}

/**
 * Every flag of a container. Nothing in it comes from a caller, and nothing of the image's own settings but its files and
 * its environment is used: no entrypoint, user, health check, volume or port of it.
 */
export function describeContainer(
  { imageId, size, initFile, owner }: ContainerPlan,
  { name, runtime }: ContainerIdentity,
): ContainerCreateOptions {
  // Owned by the command: an image that has these folders itself may have them closed to others.
  const ownedBy = runtime === 'podman' ? 'U' : 'uid=65534,gid=65534';
  const scratch = `rw,noexec,nosuid,nodev,size=${size.scratchBytes},mode=1777,${ownedBy}`;
  return {
    name,
    Image: imageId,
    Entrypoint: [initTarget],
    Cmd: [],
    User: nobody,
    WorkingDir: '/',
    Hostname: 'cell',
    Labels: { [ownerLabel]: owner },
    Healthcheck: { Test: ['NONE'] },
    NetworkDisabled: true,
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    StopSignal: 'SIGKILL',
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      PidsLimit: size.pids,
      NanoCpus: Math.round(size.cpus * 1e9),
      Memory: size.memoryBytes,
      MemorySwap: size.memoryBytes,
      OomKillDisable: false,
      ReadonlyRootfs: true,
      Privileged: false,
      IpcMode: 'none',
      Tmpfs: { '/tmp': scratch, '/workspace': scratch, ...(runtime === 'podman' ? closedFolders : {}) },
      Mounts: [{ Type: 'bind', Source: initFile, Target: initTarget, ReadOnly: true }],
      Ulimits: [
        { Name: 'nofile', Soft: 1024, Hard: 1024 },
        { Name: 'core', Soft: 0, Hard: 0 },
        ...(runtime === 'podman' ? podmanLimits : []),
      ],
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}
