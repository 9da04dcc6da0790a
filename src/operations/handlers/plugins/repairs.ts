import { HotcellError } from '../../../errors/hotcell-error.ts';
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
    implement(repairContracts.create, async ({ source, text, operations, server, ...wish }, { caller }) => {
      const isOfApi = source !== undefined || text !== undefined;
      if (!isOfApi && wish.description === undefined) {
        throw new HotcellError('arguments-invalid', 'Nothing says what the plugin is to do.', {
          fix: 'Give a description, or the source of the description of an API.',
        });
      }
      const order = {
        isPublic: true,
        ...(source !== undefined && { source }),
        ...(text !== undefined && { text }),
        ...(operations && { operations }),
        ...(server !== undefined && { server }),
      };
      const { repair } = await authoring.create({ ...wish, ...(isOfApi && { api: order }) }, caller.id);
      return describeRepair(repairs.get(repair));
    }),
    implement(repairContracts.refresh, async ({ plugin, source, text }, { caller }) => {
      const order = { isPublic: true, ...(source !== undefined && { source }), ...(text !== undefined && { text }) };
      const answer = await authoring.refresh(plugin, order, caller.id);
      return answer === undefined
        ? { isChanged: false }
        : { isChanged: true, repair: describeRepair(repairs.get(answer.repair)) };
    }),
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
