import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { eventually } from './docker-machine.ts';

/** A Docker Engine of a test's own, to be stopped and killed as it likes: the machine's own goes on. */
export interface SecondDocker {
  readonly socket: string;
  /** For the environment of whoever shall use it. */
  readonly host: string;
  readonly docker: Docker;
  start(): Promise<void>;
  /** `SIGTERM` stops it in order; `SIGKILL` leaves its containers running. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Ends it and removes everything of it. */
  close(): Promise<void>;
}

/** Only root may start one, where dockerd is. */
export const canStartDocker =
  process.getuid?.() === 0 && spawnSync('sh', ['-c', 'command -v dockerd'], { stdio: 'ignore' }).status === 0;

/** Starts one with an image of the machine's own. */
export async function startSecondDocker(image: string): Promise<SecondDocker> {
  // Short: the path of a socket has about a hundred characters at most.
  const folder = mkdtempSync(join(tmpdir(), 'hc-docker-'));
  const socket = join(folder, 'docker.sock');
  const host = `unix://${socket}`;
  const docker = new Docker({ socketPath: socket });
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    // A killed one leaves its file; dockerd does not start beside it.
    rmSync(join(folder, 'pid'), { force: true });
    const log = openSync(join(folder, 'log'), 'a');
    const places = ['--data-root', join(folder, 'root'), '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')];
    const network = ['--iptables=false', '--ip6tables=false', '--bridge=none'];
    child = spawn('dockerd', ['-H', host, ...places, ...network], { stdio: ['ignore', log, log] });
    await eventually(
      () =>
        docker.ping().then(
          () => true,
          () => false,
        ),
      (isThere) => isThere,
    );
  };
  const end: SecondDocker['end'] = async (signal) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const over = once(child, 'exit');
    const containerd = readFileSync(join(folder, 'exec/containerd/containerd.pid'), 'utf8').trim();
    child.kill(signal);
    await over;
    // It goes a moment later, and the next dockerd would still count on it.
    await eventually(async () => !existsSync(`/proc/${containerd}`), Boolean);
  };
  await start();
  spawnSync('sh', ['-c', `docker save ${image} | docker -H ${host} load`], { stdio: 'ignore' });
  return {
    socket,
    host,
    docker,
    start,
    end,
    close: async () => {
      if (child?.exitCode !== null || child.signalCode !== null) await start();
      for (const { Id } of await docker.listContainers({ all: true })) await docker.getContainer(Id).remove({ force: true });
      await end('SIGTERM');
      spawnSync('umount', [join(folder, 'root')], { stdio: 'ignore' });
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
