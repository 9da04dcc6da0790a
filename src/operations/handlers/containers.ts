import { containerContracts } from '../contracts/containers.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with what runs in containers. */
export function createContainerOperations({ containers }: OperationParts): Operation[] {
  return [
    implement(containerContracts.list, async () => {
      const items = containers
        .listRuns()
        .map(({ startedAtMs, ...run }) => ({ ...run, startedAt: new Date(startedAtMs).toISOString() }));
      return { items, total: items.length };
    }),
    implement(containerContracts.kill, async ({ id }) => ({
      killed: await (id === undefined ? containers.killAll() : containers.kill(id)),
    })),
  ];
}
