import { createHash } from 'node:crypto';
import type { PermissionSet } from '../../config/permission-set.ts';
import type { Approval, Approvals } from '../../permissions/approvals/approval-types.ts';
import { matchersOf } from '../../permissions/matchers.ts';
import { canonicalJson } from '../../tools/canonical-json.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { ToolFlags, ToolManifest } from '../../units/tool-manifest.ts';
import type { ActiveCall } from '../active-call.ts';
import type { CallRequest } from '../call-types.ts';
import { endWithError } from '../record/call-end.ts';
import type { CallEnd } from '../record/execution-record.ts';
import type { Refusal } from './admission.ts';

/** What decides whether a person must let a call begin. */
export interface ApprovalFacts {
  readonly tool: string;
  readonly flags: Pick<ToolFlags, 'isDangerous'>;
  readonly who: ToolManifest['who'] | undefined;
  /** Asked for only where it matters. */
  readonly granted: () => PermissionSet;
}

/** Why a person must let a call begin; undefined when nobody needs to. */
export function decideApproval({ tool, flags, who, granted }: ApprovalFacts): 'hybrid' | 'dangerous' | undefined {
  if (who === 'both') return 'hybrid';
  if (flags.isDangerous && !matchersOf(granted()).allowsDangerous(tool)) return 'dangerous';
  return undefined;
}

/** Asks a person to let a call begin, where one must. Throws `queue-full` when too many questions are open. */
export function askForApproval(call: ActiveCall, approvals: Pick<Approvals, 'ask'>): Approval | undefined {
  const { entry, record } = call;
  const { manifest, served, name, version } = entry;
  const { id: executionId, caller, session } = record;
  const granted = () => served.granted({ executionId, caller, session });
  const reason = decideApproval({ tool: name, flags: manifest.flags, who: manifest.who, granted });
  if (reason === undefined) return undefined;
  return approvals.ask({
    kind: 'call',
    askKey: executionId,
    pluginPath: call.pluginPath,
    plugin: entry.plugin,
    tool: name,
    executionId,
    caller,
    isAdmin: call.isAdmin,
    session,
    reason,
    question: sayQuestion(reason, `${name}@${version}`),
    argumentsHash: hashArguments(record.argumentsJson),
    details: { version, contentHash: served.unit.contentHash, arguments: JSON.parse(record.argumentsJson) },
  });
}

/** SHA-256 (hex) of the arguments in their canonical form: what an answer binds. */
export function hashArguments(argumentsJson: string): string {
  return createHash('sha256')
    .update(canonicalJson(JSON.parse(argumentsJson)))
    .digest('hex');
}

/** How a call ends that may not begin. */
export function endUnapproved(status: Exclude<Approval['status'], 'open' | 'approved'>): CallEnd {
  switch (status) {
    case 'denied':
      return refuse('error', 'approval-denied', 'A person was asked to let this call begin, and said no.');
    case 'expired':
      return refuse('error', 'approval-expired', 'Nobody let this call begin in time.');
    case 'withdrawn':
      return refuse('cancelled', 'cancelled', 'The question whether this call may begin was taken back.');
  }
}

/** Why a call may not begin any more that a person let begin; what it is not to wait for again is a place in the queue. */
export function findLateRefusal(
  { entry, request }: ActiveCall,
  findRefusal: (entry: ToolEntry, request: CallRequest) => Refusal | undefined,
  findServable: ((generationId: string) => unknown) | undefined,
): CallEnd | undefined {
  if (findServable !== undefined && findServable(entry.served.unit.id) === undefined) {
    const message = `The plugin "${entry.plugin}" does not serve any more, so the call did not begin.`;
    return endWithError('error', { code: 'plugin-not-ready', message, frames: [] });
  }
  const refusal = findRefusal(entry, request);
  if (refusal === undefined || refusal.code === 'queue-full') return undefined;
  return endWithError('error', { code: refusal.code, message: refusal.message, frames: [] });
}

function refuse(
  status: 'error' | 'cancelled',
  code: 'approval-denied' | 'approval-expired' | 'cancelled',
  message: string,
): CallEnd {
  return endWithError(status, { code, message, frames: [] });
}

function sayQuestion(reason: 'hybrid' | 'dangerous', tool: string): string {
  return reason === 'hybrid'
    ? `May this call of ${tool} begin? The tool asks a person every time.`
    : `May this call of ${tool} begin? The tool is marked as dangerous.`;
}
