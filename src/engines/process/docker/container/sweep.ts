import { createHash, randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import { readStatus } from '../docker-client.ts';
import { ownerLabel } from './container-flags.ts';

/** The label value of the containers of one data directory: one daemon at a time has it. */
export function nameOwner(dataDir: string): string {
  return createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
}

const oldMs = 3_600_000;

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
