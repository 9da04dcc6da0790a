import { createHash } from 'node:crypto';
import type Docker from 'dockerode';
import { ownerLabel } from './container-spec.ts';
import { readStatus } from './docker-client.ts';

/** The label value of the containers of one data directory: one daemon at a time has it. */
export function nameOwner(dataDir: string): string {
  return createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
}

const oldMs = 3_600_000;

/**
 * Removes the containers with the label of this data directory, but for those in somebody's hands, and what ended long ago for
 * any other: its daemon may never start again. A container ends with its daemon. Answers how many.
 */
export async function sweepContainers(
  docker: Docker,
  owner: string,
  isInHand: (name: string) => boolean = () => false,
): Promise<number> {
  const own = await docker.listContainers({ all: true, filters: { label: [`${ownerLabel}=${owner}`] } });
  const ended = await docker.listContainers({ all: true, filters: { label: [ownerLabel], status: ['exited', 'created'] } });
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
