import type { ApprovalRow } from '../../store/tables/access/approvals.ts';
import { cleanUntrustedText } from '../untrusted-text.ts';
import type { Approval, ApprovalRequest } from './approval-types.ts';

/** A question as it is written; texts that a plugin may have made are cleaned here, before anybody sees them. */
export function toApprovalRow(
  request: ApprovalRequest,
  made: { readonly id: string; readonly createdAtMs: number; readonly expiresAtMs: number },
): ApprovalRow {
  return {
    id: made.id,
    kind: request.kind,
    askKey: request.askKey,
    unitPath: request.unitPath,
    plugin: cleanUntrustedText(request.plugin, 256),
    tool: request.tool === undefined ? null : cleanUntrustedText(request.tool, 256),
    executionId: request.executionId ?? null,
    caller: request.caller ?? null,
    session: request.session ?? null,
    reason: request.reason,
    question: cleanUntrustedText(request.question),
    argumentsHash: request.argumentsHash,
    detailsJson: JSON.stringify(request.details),
    status: 'open',
    createdAtMs: made.createdAtMs,
    expiresAtMs: made.expiresAtMs,
    answeredAtMs: null,
    answeredBy: null,
    contentJson: null,
  };
}

/** A kept question as the daemon handles it. */
export function readApproval(row: ApprovalRow): Approval {
  const { tool, executionId, caller, session, detailsJson, contentJson, answeredAtMs, answeredBy, ...rest } = row;
  return Object.freeze({
    ...rest,
    ...(tool === null ? {} : { tool }),
    ...(executionId === null ? {} : { executionId }),
    ...(caller === null ? {} : { caller }),
    ...(session === null ? {} : { session }),
    details: readDetails(detailsJson),
    ...(contentJson === null ? {} : { content: readDetails(contentJson) }),
    ...(answeredAtMs === null ? {} : { answeredAtMs }),
    ...(answeredBy === null ? {} : { answeredBy }),
  });
}

function readDetails(json: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
