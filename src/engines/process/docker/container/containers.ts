import { createHash, randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import { readStatus } from '../docker-client.ts';
import { type CellContainer, startContainer } from './container.ts';
import { type ContainerPlan, type ContainerRuntime, ownerLabel } from './container-flags.ts';

const maxRetryMs = 60_000;
/** What ended so long ago is not waited for by any daemon. */
const oldMs = 3_600_000;
/** With these nobody was reached, so nothing was made. */
const unreached = new Set(['ENOENT', 'ECONNREFUSED', 'EACCES', 'EPERM', 'ENOTSOCK']);

/**
 * Every container of one daemon: started here, and gone in the end, also when Docker itself goes away in between. `owner` is the
 * label value of its data directory.
 */
export function createContainers({
  docker,
  owner,
  firstRetryMs = 1000,
}: {
  readonly docker: () => Promise<Docker>;
  readonly owner: string;
  readonly firstRetryMs?: number;
}) {
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
    /** Removes what carries the label of this daemon and is in nobody's hands; answers how many. Rejects, and tries again later, without Docker. */
    sweep: () =>
      sweep().catch((error: unknown) => {
        sweepLater();
        throw error;
      }),
    /** Starts one. Throws what `startContainer` throws. */
    start: async (plan: ContainerPlan): Promise<CellContainer> => {
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
    /** Tries once more to remove what is left. */
    close: async (): Promise<void> => {
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

/** The label value of the containers of one data directory: one daemon at a time has it. */
export function nameOwner(dataDir: string): string {
  return createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
}

/** A new name for a container of this owner. */
export function nameContainer(owner: string): string {
  return `hotcell-${owner.slice(0, 8)}-${randomBytes(6).toString('hex')}`;
}

/** An image may have any label, and hands it to what is started from it: only a name is given by who starts a container. */
function isNameOfContainer(name: string): boolean {
  return /^\/?hotcell-[0-9a-f]{8}-[0-9a-f]{12}$/.test(name);
}

/**
 * Removes the containers with the label of this data directory, but for those in somebody's hands, and what ended long ago for
 * any other: its daemon may never start again. A container ends with its daemon. Answers how many.
 */
export async function sweepContainers(
  docker: Docker,
  owner: string,
  isInHand: (name: string) => boolean = () => false,
): Promise<number> {
  const list = async (filters: Record<string, string[]>) =>
    (await docker.listContainers({ all: true, filters })).filter(({ Names: names }) => names.some(isNameOfContainer));
  const own = await list({ label: [`${ownerLabel}=${owner}`] });
  const ended = await list({ label: [ownerLabel], status: ['exited', 'created'] });
  const before = Date.now() - oldMs;
  const left = [
    ...own.filter(({ Names: names }) => !names.some((name) => isInHand(name.replace(/^\//, '')))),
    ...ended.filter(({ Labels, Created }) => Labels[ownerLabel] !== owner && Created * 1000 < before),
  ];
  await Promise.all(
    left.map(async ({ Id }) => {
      try {
        await docker.getContainer(Id).remove({ force: true, v: true });
      } catch (error) {
        if (![404, 409].includes(readStatus(error) ?? 0)) throw error;
      }
    }),
  );
  return left.length;
}
