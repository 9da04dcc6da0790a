import { createHash } from 'node:crypto';
import type { PermissionSet } from '../config/permission-set.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import { matchersOf } from '../permissions/matchers.ts';
import { canonicalJson } from '../tools/canonical-json.ts';
import type { ToolFlags, ToolManifest } from '../units/tool-manifest.ts';
import type { ActiveCall } from './active-call.ts';

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
    unitPath: call.unitPath,
    plugin: entry.plugin,
    tool: name,
    executionId,
    above: call.request.parent?.above,
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

function sayQuestion(reason: 'hybrid' | 'dangerous', tool: string): string {
  return reason === 'hybrid'
    ? `May this call of ${tool} begin? The tool asks a person every time.`
    : `May this call of ${tool} begin? The tool is marked as dangerous.`;
}
