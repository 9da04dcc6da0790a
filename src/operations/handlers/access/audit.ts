import { cursorUnknown } from '../../../calls/record/execution-reader.ts';
import { omitUndefined } from '../../../config/json-object.ts';
import type { AuditRow } from '../../../store/tables/access/audit.ts';
import { type AuditEntry, auditContracts } from '../../contracts/access/audit.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';

const defaultPageSize = 100;

/** What can be read of the audit. */
export function createAuditOperations({ store }: Pick<OperationParts, 'store'>): Operation[] {
  return [
    implement(auditContracts.list, (input, context) => {
      const { plugin, tool, execution, allowed, limit = defaultPageSize, cursor } = input;
      // Whatever a caller asks for, it sees its own.
      const caller = context.caller.role === 'admin' ? input.caller : context.caller.id;
      const query = omitUndefined({ plugin, caller, tool, executionId: execution, allowed });
      if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw cursorUnknown();
      const before = cursor === undefined ? {} : { before: Number(cursor) };
      const rows = store.audit.list({ ...query, ...before, limit: limit + 1 });
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      const isMore = rows.length > limit && last !== undefined;
      return { items: items.map(describeRow), ...(isMore ? { next: String(last.id) } : {}), total: store.audit.count(query) };
    }),
  ];
}

/** What is empty in a row stands for nothing and is left out. */
function describeRow({ atMs, executionId, plugin, tool, ...row }: AuditRow & { id: number }): AuditEntry {
  const named = { execution: executionId || undefined, plugin: plugin || undefined, tool: tool || undefined };
  return { ...row, at: atMs, ...omitUndefined(named) };
}
