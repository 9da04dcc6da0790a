import { containerContracts } from '../contracts/containers.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with what runs in containers. */
export function createContainerOperations({ containers }: OperationParts): Operation[] {
  type Run = ReturnType<typeof containers.listRuns>[number];
  const describeRun = ({ startedAtMs, ...run }: Run) => ({ ...run, startedAt: new Date(startedAtMs).toISOString() });
  return [
    implement(containerContracts.list, () => pageOfAll(containers.listRuns().map(describeRun))),
    implement(containerContracts.kill, async ({ id }) => ({
      killed: await (id === undefined ? containers.killAll() : containers.kill(id)),
    })),
  ];
}
