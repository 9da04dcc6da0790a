import { operatorId } from '../../../permissions/approvals/approval-answerer.ts';
import type { Repair } from '../../../repair/repair.ts';
import { type RepairItem, repairContracts } from '../../contracts/repairs.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';

const pageSize = 100;

/** What can be done with repairs. */
export function createRepairOperations({ repairs, authoring }: Pick<OperationParts, 'repairs' | 'authoring'>): Operation[] {
  return [
    implement(repairContracts.list, ({ plugin, state, limit = pageSize }) => {
      const found = repairs.list({
        limit,
        ...(plugin === undefined ? {} : { plugin }),
        ...(state === undefined ? {} : { state }),
      });
      return { items: found.map(describeRepair), total: found.length };
    }),
    implement(repairContracts.get, ({ id }) => describeRepair(repairs.get(id))),
    implement(repairContracts.start, async ({ plugin, person }, { caller }) =>
      describeRepair(await repairs.begin(plugin, person === true && caller.id === operatorId)),
    ),
    implement(repairContracts.create, async (wish, { caller }) =>
      describeRepair(repairs.get((await authoring.create(wish, caller.id)).repair)),
    ),
    implement(repairContracts.apply, async ({ id }, { caller }) => describeRepair(await repairs.apply(id, caller.id))),
    implement(repairContracts.reject, ({ id, reason }) => describeRepair(repairs.reject(id, reason))),
    implement(repairContracts.rollback, async ({ id }, { caller }) => describeRepair(await repairs.rollback(id, caller.id))),
  ];
}

function describeRepair({
  attempts,
  failureKey: _failureKey,
  generationHash: _generationHash,
  proposal,
  ...repair
}: Repair): RepairItem {
  return {
    ...repair,
    tried: attempts.length,
    attempts: attempts.map((attempt) => ({ ...attempt })),
    ...(proposal === undefined ? {} : { proposal }),
  };
}
