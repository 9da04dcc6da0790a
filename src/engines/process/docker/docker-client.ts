import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { HotcellError } from '../../../errors/hotcell-error.ts';

/** Where the engine is looked for. */
export interface DockerPlace {
  /** `docker.socket` of the config. */
  readonly socket: string;
  readonly env: NodeJS.ProcessEnv;
}

/** An engine that takes a question and says nothing for so long is given up. */
const silenceMs = 120_000;

const installFix = 'Install and start it: apt-get install docker.io (or podman), or set docker.socket in the config.';

/**
 * The socket of the engine: the config, then DOCKER_HOST, then where Docker and Podman usually listen. Throws
 * `docker-missing` for a DOCKER_HOST that is no local socket: files and time-outs are not trusted to another machine.
 */
export function findDockerSocket({ socket, env }: DockerPlace): string {
  if (socket !== '') return socket;
  const host = env.DOCKER_HOST ?? '';
  if (host.startsWith('unix://')) return host.slice('unix://'.length);
  if (host !== '') {
    throw new HotcellError(
      'docker-missing',
      'DOCKER_HOST is no local socket (unix://…); Docker on another machine is not used.',
      {
        fix: 'Unset DOCKER_HOST, or set docker.socket in the config to the path of a local socket.',
      },
    );
  }
  const usual = ['/var/run/docker.sock', '/run/podman/podman.sock'];
  if (env.XDG_RUNTIME_DIR) usual.push(join(env.XDG_RUNTIME_DIR, 'docker.sock'), join(env.XDG_RUNTIME_DIR, 'podman/podman.sock'));
  return usual.find((path) => existsSync(path)) ?? '/var/run/docker.sock';
}

/**
 * Opens the engine lazily: its library is loaded with the first use, so a daemon that needs no Docker does not pay for it.
 * Whoever gives an `agent` can end all that is still asked by destroying it.
 */
export function createDockerClient(place: DockerPlace, agent = new Agent()): () => Promise<Docker> {
  const clientsBySocket = new Map<string, Docker>();
  return async () => {
    const { default: Client } = await import('dockerode');
    // Looked for again each time: Docker or Podman may have come since.
    const socketPath = findDockerSocket(place);
    const options = { socketPath, timeout: silenceMs, agent };
    const client = clientsBySocket.get(socketPath) ?? new Client(options);
    clientsBySocket.set(socketPath, client);
    return client;
  };
}

/** The HTTP status of a refusal of the engine, when it is one. */
export function readStatus(error: unknown): number | undefined {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** What a failed request to the engine means for a call: that there is none, or a failure of the container. */
export function describeDockerError(error: unknown, doing: string): HotcellError {
  if (error instanceof HotcellError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'EACCES' || code === 'EPERM') {
    return new HotcellError('docker-missing', 'The socket of Docker may not be opened by the user of the daemon.', {
      cause: error,
      fix: 'Add the user to the group docker, or use rootless Docker or Podman: docker.socket in the config.',
    });
  }
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTSOCK') {
    return new HotcellError('docker-missing', `Docker does not answer, and it is needed ${doing}.`, {
      cause: error,
      fix: installFix,
    });
  }
  const status = readStatus(error);
  const cause = error instanceof Error ? error.message.split('\n')[0]?.slice(0, 300) : undefined;
  const said = status === undefined ? (typeof code === 'string' ? code : 'no answer') : `${status}${cause ? `: ${cause}` : ''}`;
  return new HotcellError('engine-failed', `Docker failed ${doing} (${said}).`, { cause: error });
}
