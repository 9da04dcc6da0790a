import { hash } from 'node:crypto';
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

/** Details as a list shows them. */
export interface ShortDetails {
  readonly details: Readonly<Record<string, unknown>>;
  /** How many characters each detail has that is shown in part alone; absent when all of them are whole. */
  readonly cut?: Readonly<Record<string, number>>;
}

/** The most of one detail in a list, in characters of JSON. */
const maxShownChars = 4096;
const sizes = new WeakMap<object, number>();

/** The details with every long one cut to its beginning: a list of questions, and those that have their answer, need no more. */
export function shortenDetails(details: Approval['details']): ShortDetails {
  const cut: Array<[string, number]> = [];
  const short = Object.entries(details).map(([name, value]): [string, unknown] => {
    const json = JSON.stringify(value) ?? 'null';
    if (json.length <= maxShownChars) return [name, value];
    cut.push([name, json.length]);
    return [name, `${json.slice(0, maxShownChars)}… (${json.length} characters in all)`];
  });
  return { details: Object.fromEntries(short), ...(cut.length > 0 && { cut: Object.fromEntries(cut) }) };
}

/** SHA-256 (hex) of everything that a person is shown: whoever names it had all of it. */
export function hashShown({ id, question, argumentsHash, details }: Approval): string {
  return hash('sha256', JSON.stringify([id, question, argumentsHash, details]));
}

/** How much an open question holds in memory and in the database, in characters. */
export function sizeOfDetails(details: Approval['details']): number {
  const size = sizes.get(details) ?? JSON.stringify(details).length;
  sizes.set(details, size);
  return size;
}
