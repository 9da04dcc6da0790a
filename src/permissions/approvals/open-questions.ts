import { countedAs } from '../../config/counted-callers.ts';
import { shareQueue } from '../../config/quotas/quota.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { sizeOfDetails } from './approval-rows.ts';
import type { Approval, ApprovalRequest } from './approval-types.ts';

/** The most questions that may be open. */
export interface QuestionLimits {
  readonly maxOpen: number;
  readonly maxOpenPerCaller: number;
}

/** A question that has no answer yet, and whoever waits for it. */
interface OpenQuestion {
  readonly approval: Approval;
  /** The executions above the one that asks; they do not outlive the daemon. */
  readonly above: readonly string[] | undefined;
  readonly waiters: Set<(ended: Approval) => void>;
}

/** Keeps the open questions in memory, oldest first: what every call asks about must not cost a query. */
export function createOpenQuestions(limits: QuestionLimits) {
  const byId = new Map<string, OpenQuestion>();
  const idsByExecution = new Map<string, Set<string>>();

  const list = (): Approval[] => [...byId.values()].map(({ approval }) => approval);

  function count(matches: (approval: Approval) => boolean): number {
    let total = 0;
    for (const { approval } of byId.values()) if (matches(approval)) total += 1;
    return total;
  }

  function requireCount({ kind, caller, unitPath, isAdmin }: ApprovalRequest): void {
    const isGrant = kind === 'grant';
    const { perPlugin, inAll, reserve } = shareQueue(limits.maxOpen);
    const most = isAdmin === true ? inAll + reserve : inAll;
    if (count((other) => (other.kind === 'grant') === isGrant) >= most) {
      throw refuse(`${most} questions wait for a person already, which is the limit.`, raiseOpen);
    }
    if (caller === undefined) return;
    const counted = countedAs(caller);
    const { maxOpenPerCaller } = limits;
    if (count((other) => other.caller !== undefined && countedAs(other.caller) === counted) >= maxOpenPerCaller) {
      const told = `${maxOpenPerCaller} questions that this caller caused wait for a person already, which is the limit.`;
      throw refuse(told, 'Wait for their answers first, or raise approvals.maxOpenPerCaller.');
    }
    if (count((other) => other.caller !== undefined && other.unitPath === unitPath) < perPlugin) return;
    throw refuse(
      `${perPlugin} questions that calls of this plugin caused wait for a person already, which is the limit.`,
      raiseOpen,
    );
  }

  /** Whoever causes a question pays for what it shows; permissions and hooks belong to the operator's own files. */
  function requireBytes({ caller, details, isAdmin }: ApprovalRequest): void {
    if (caller === undefined) return;
    const { perCaller, inAll, reserve } = quotas['approvals.details'];
    const counted = countedAs(caller);
    let bytes = sizeOfDetails(details);
    let bytesOfCaller = bytes;
    for (const { approval: other } of byId.values()) {
      if (other.caller === undefined) continue;
      const size = sizeOfDetails(other.details);
      bytes += size;
      if (countedAs(other.caller) === counted) bytesOfCaller += size;
    }
    if (bytes <= (isAdmin === true ? inAll + reserve : inAll) && bytesOfCaller <= perCaller) return;
    throw refuse(
      `Open questions of one caller show at most ${perCaller} bytes, of all callers ${inAll}.`,
      'Answer some first: hotcell approve. Or call with smaller arguments.',
    );
  }

  return {
    /** Throws `queue-full` where one more question would be too many, or would show too much. */
    requireRoom(request: ApprovalRequest): void {
      requireCount(request);
      requireBytes(request);
    },
    add(approval: Approval, above?: readonly string[]): void {
      byId.set(approval.id, { approval, above, waiters: new Set() });
      const { executionId } = approval;
      if (executionId === undefined) return;
      const ids = idsByExecution.get(executionId) ?? new Set();
      idsByExecution.set(executionId, ids.add(approval.id));
    },
    /** Takes a question out that has its answer, with those who wait for it. */
    remove(id: string): OpenQuestion | undefined {
      const question = byId.get(id);
      const executionId = question?.approval.executionId;
      byId.delete(id);
      if (executionId === undefined) return question;
      const ids = idsByExecution.get(executionId);
      ids?.delete(id);
      if (ids?.size === 0) idsByExecution.delete(executionId);
      return question;
    },
    /** Resolves with the question once it has its answer; undefined where it is not open. Rejects with the signal's reason. */
    waitFor(id: string, signal: AbortSignal): Promise<Approval> | undefined {
      const waiters = byId.get(id)?.waiters;
      if (waiters === undefined) return undefined;
      return new Promise((resolve, reject) => {
        const settle = (ended: Approval): void => {
          signal.removeEventListener('abort', leave);
          resolve(ended);
        };
        const leave = (): void => {
          waiters.delete(settle);
          reject(signal.reason);
        };
        waiters.add(settle);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
    get: (id: string): Approval | undefined => byId.get(id)?.approval,
    list,
    ofExecution: (executionId: string): Approval[] =>
      [...(idsByExecution.get(executionId) ?? [])].flatMap((id) => byId.get(id)?.approval ?? []),
    /** Executions that at least one question belongs to. */
    executions: (): ReadonlySet<string> => new Set(idsByExecution.keys()),
  };
}

const raiseOpen = 'Answer some first: hotcell approve. Or raise approvals.maxOpen.';

function refuse(message: string, fix: string): HotcellError {
  return new HotcellError('queue-full', message, { fix });
}
