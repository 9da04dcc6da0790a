import type { ImageState } from '../../engines/process/docker/images/image-book.ts';
import { describeImageUses } from '../../engines/process/docker/images/image-uses.ts';
import { containerContracts, imageContracts } from '../contracts/containers.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with what runs in containers, and with the images of native commands. */
export function createContainerOperations({ containers, images, config }: OperationParts): Operation[] {
  type Run = ReturnType<typeof containers.listRuns>[number];
  const describeRun = ({ startedAtMs, ...run }: Run) => ({ ...run, startedAt: new Date(startedAtMs).toISOString() });
  const describeImage = ({ fix, ...state }: ImageState) => {
    const usedBy = describeImageUses(config).get(state.name) ?? [];
    // Nobody needs to fetch what nothing runs in.
    const isWanted = fix !== undefined && (usedBy.length > 0 || state.status !== 'missing');
    return { ...state, usedBy, ...(isWanted ? { fix } : {}) };
  };
  return [
    implement(containerContracts.list, () => pageOfAll(containers.listRuns().map(describeRun))),
    implement(containerContracts.kill, async ({ id }) => ({
      killed: await (id === undefined ? containers.killAll() : containers.kill(id)),
    })),
    implement(imageContracts.list, async () => pageOfAll((await images.list()).map(describeImage))),
    implement(imageContracts.accept, async ({ name }) => describeImage(await images.accept(name))),
  ];
}
