import { createHash } from 'node:crypto';
import type Docker from 'dockerode';
import { ownerLabel } from './container-spec.ts';
import { readStatus } from './docker-client.ts';

/** The label value of the containers of one data directory: one daemon at a time has it. */
export function nameOwner(dataDir: string): string {
  return createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
}

/** Removes the containers with the label of this data directory, but for those in somebody's hands; answers how many. */
export async function sweepContainers(
  docker: Docker,
  owner: string,
  isInHand: (name: string) => boolean = () => false,
): Promise<number> {
  const found = await docker.listContainers({ all: true, filters: { label: [`${ownerLabel}=${owner}`] } });
  const left = found.filter(({ Names: names }) => !names.some((name) => isInHand(name.replace(/^\//, ''))));
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
