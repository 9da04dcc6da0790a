import type { Caller } from '../../../callers/caller.ts';
import { omitUndefined, type Readable } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { operatorId } from '../../../permissions/approvals/approval-answerer.ts';
import type { Repair } from '../../../repair/repair.ts';
import { pageOfAll } from '../../contracts/paging.ts';
import { type RepairItem, repairContracts } from '../../contracts/repairs.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';

const pageSize = 100;

/** What can be done with repairs. */
export function createRepairOperations({ repairs, authoring }: Pick<OperationParts, 'repairs' | 'authoring'>): Operation[] {
  /** Where files lie on this machine is told to its operator alone. */
  function describe({ failureKey: _key, generationHash: _hash, ...repair }: Repair, { id }: Caller): Readable<RepairItem> {
    const { path, proposal, attempts } = repair;
    const show = (each: string): string => (id === operatorId ? each : repairs.showPath(each));
    return {
      ...repair,
      path: show(path),
      tried: attempts.length,
      ...(proposal && { proposal: { ...proposal, files: proposal.files.map((file) => ({ ...file, path: show(file.path) })) } }),
    };
  }

  return [
    implement(repairContracts.list, ({ plugin, state, limit = pageSize }, { caller }) => {
      const found = repairs.list(omitUndefined({ plugin, state, limit }));
      return pageOfAll(found.map((repair) => describe(repair, caller)));
    }),
    implement(repairContracts.get, ({ id }, { caller }) => describe(repairs.get(id), caller)),
    implement(repairContracts.start, async ({ plugin, person }, { caller }) =>
      describe(await repairs.begin(plugin, person === true && caller.id === operatorId), caller),
    ),
    implement(repairContracts.create, async ({ source, text, operations, server, ...wish }, { caller }) => {
      const isOfApi = source !== undefined || text !== undefined;
      if (!isOfApi && wish.description === undefined) {
        throw new HotcellError('arguments-invalid', 'Nothing says what the plugin is to do.', {
          fix: 'Give a description, or the source of the description of an API.',
        });
      }
      const order = orderOf({ source, text, operations, server });
      const { repair } = await authoring.create({ ...wish, ...(isOfApi && { api: order }) }, caller.id);
      return describe(repairs.get(repair), caller);
    }),
    implement(repairContracts.refresh, async ({ plugin, source, text }, { caller }) => {
      const answer = await authoring.refresh(plugin, orderOf({ source, text }), caller.id);
      return answer === undefined
        ? { isChanged: false }
        : { isChanged: true, repair: describe(repairs.get(answer.repair), caller) };
    }),
    implement(repairContracts.apply, async ({ id }, { caller }) => describe(await repairs.apply(id, caller.id), caller)),
    implement(repairContracts.reject, ({ id, reason }, { caller }) => describe(repairs.reject(id, reason), caller)),
    implement(repairContracts.rollback, async ({ id }, { caller }) => describe(await repairs.rollback(id, caller.id), caller)),
  ];
}

/** An admin may have any public address read. */
function orderOf<Said extends object>(said: Said) {
  return { isPublic: true, ...omitUndefined(said) };
}
