import type Docker from 'dockerode';
import { readStatus } from '../docker-client.ts';
import { type CellContainer, startContainer } from './container.ts';
import type { ContainerPlan, ContainerRuntime } from './container-flags.ts';
import { nameContainer, sweepContainers } from './sweep.ts';

/** Every container of one daemon: started here, and gone in the end, also when Docker itself goes away in between. */
export interface Containers {
  /** Starts one. Throws what `startContainer` throws. */
  start(plan: ContainerPlan): Promise<CellContainer>;
  /** Removes what carries the label of this daemon and is in nobody's hands; answers how many. Rejects, and tries again later, without Docker. */
  sweep(): Promise<number>;
  /** Tries once more to remove what is left. */
  close(): Promise<void>;
}

/** What they are made with. */
export interface ContainersParts {
  readonly docker: () => Promise<Docker>;
  /** The label value of this data directory. */
  readonly owner: string;
  readonly firstRetryMs?: number;
}

const maxRetryMs = 60_000;
/** With these nobody was reached, so nothing was made. */
const unreached = new Set(['ENOENT', 'ECONNREFUSED', 'EACCES', 'EPERM', 'ENOTSOCK']);

/** Makes the keeper of a daemon's containers. */
export function createContainers({ docker, owner, firstRetryMs = 1000 }: ContainersParts): Containers {
  const inHand = new Set<string>();
  let runtime: Promise<ContainerRuntime> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isLeft = false;

  const sweep = async (): Promise<number> => {
    const count = await sweepContainers(await docker(), owner, (name) => inHand.has(name));
    isLeft = false;
    return count;
  };

  /** Docker did not remove something, or nobody knows whether it made it: asked again until it answers. */
  const sweepLater = (inMs = firstRetryMs): void => {
    isLeft = true;
    if (retry !== undefined) return;
    retry = setTimeout(() => {
      retry = undefined;
      sweep().catch(() => sweepLater(Math.min(inMs * 2, maxRetryMs)));
    }, inMs);
    retry.unref();
  };

  const askRuntime = (client: Docker): Promise<ContainerRuntime> => {
    runtime ??= readRuntime(client);
    runtime.catch(() => {
      runtime = undefined;
    });
    return runtime;
  };

  return {
    sweep: () =>
      sweep().catch((error: unknown) => {
        sweepLater();
        throw error;
      }),
    start: async (plan) => {
      const client = await docker();
      const name = nameContainer(owner);
      inHand.add(name);
      try {
        const cell = await startContainer(client, plan, { name, runtime: await askRuntime(client) });
        const remove = async (): Promise<void> => {
          inHand.delete(name);
          await cell.remove().catch((error: unknown) => {
            sweepLater();
            throw error;
          });
        };
        return { ...cell, remove };
      } catch (error) {
        inHand.delete(name);
        if (mayHaveMade(error)) sweepLater();
        throw error;
      }
    },
    close: async () => {
      clearTimeout(retry);
      if (isLeft) await sweep();
    },
  };
}

async function readRuntime(client: Docker): Promise<ContainerRuntime> {
  const { Components: components = [] } = await client.version();
  return components.some(({ Name: name }) => name.startsWith('Podman')) ? 'podman' : 'docker';
}

/** An answer with a status was given after everything was removed again; without one, the connection broke in the middle. */
function mayHaveMade(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (readStatus(cause) !== undefined) return false;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return !(typeof code === 'string' && unreached.has(code));
}
