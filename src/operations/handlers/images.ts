import type { ImageState } from '../../engines/process/docker/images/image-book.ts';
import { describeImageUses } from '../../engines/process/docker/images/image-uses.ts';
import { imageContracts } from '../contracts/images.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with the images of native commands. */
export function createImageOperations({ images, config }: OperationParts): Operation[] {
  const show = ({ fix, ...state }: ImageState) => {
    const usedBy = describeImageUses(config).get(state.name) ?? [];
    // Nobody needs to fetch what nothing runs in.
    const isWanted = fix !== undefined && (usedBy.length > 0 || state.status !== 'missing');
    return { ...state, usedBy, ...(isWanted ? { fix } : {}) };
  };
  return [
    implement(imageContracts.list, async () => pageOfAll((await images.list()).map(show))),
    implement(imageContracts.accept, async ({ name }) => show(await images.accept(name))),
  ];
}
