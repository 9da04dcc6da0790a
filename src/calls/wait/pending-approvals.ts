import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Approval, Approvals } from '../../permissions/approvals/approval-types.ts';
import type { Store } from '../../store/store-types.ts';
import { endUnapproved } from '../accept/approval-gate.ts';
import type { ActiveCall } from '../active-call.ts';
import { endWithError } from '../record/call-end.ts';
import type { CallEnd } from '../record/execution-record.ts';
import { describeParked } from './parked-facts.ts';

/** Calls that wait for a person to let them begin: they have no place in the queue, and their clock stands still. */
export interface PendingApprovals {
  /** Waits for the answer to a question. Resolves with the end of a call that may not begin. Never rejects. */
  wait(call: ActiveCall, approval: Approval): Promise<CallEnd | undefined>;
}

/** Creates the waiting room. The functions must not throw. */
export function createPendingApprovals(parts: {
  readonly approvals: Pick<Approvals, 'settled'>;
  readonly store: Pick<Store, 'parkedCalls'>;
  readonly now: () => number;
  /** Why the call may not begin any more, although a person let it. */
  readonly findRefusal: (call: ActiveCall) => CallEnd | undefined;
  readonly onFault: (error: unknown, executionId: string) => void;
}): PendingApprovals {
  const { approvals, store, now, onFault } = parts;

  function keep(call: ActiveCall, { argumentsHash }: Approval): void {
    // What a call within a call waits for is of no use once the call above it is gone.
    if (call.request.parent !== undefined || call.isParked) return;
    const { id: executionId } = call.record;
    try {
      const factsJson = describeParked(call, 'call', argumentsHash);
      store.parkedCalls.put({ executionId, factsJson, blob: null, parkedAtMs: now() });
      call.isParked = true;
    } catch (error) {
      onFault(error, executionId);
    }
  }

  function endLost(call: ActiveCall, error: unknown): CallEnd {
    const { code, message } = error instanceof HotcellError ? error : { code: 'internal' as const, message: '' };
    if (code === 'internal') onFault(error, call.record.id);
    const told = message || `The question whether this call may begin was lost; the log says why under ${call.record.id}.`;
    return endWithError('error', { code, message: told, frames: [] });
  }

  return {
    async wait(call, approval) {
      call.phase = 'approval';
      const startClock = call.deadline.hold();
      keep(call, approval);
      try {
        const answered = approvals.settled(approval.id, call.controller.signal);
        const answer = await Promise.race([answered, call.wait({ isTimed: false })]);
        // Nobody waits for the answer any more: the call was stopped, or left to the next run.
        if (answer === undefined || answer.status === 'open' || call.phase !== 'approval') return undefined;
        return answer.status === 'approved' ? parts.findRefusal(call) : endUnapproved(answer.status);
      } catch (error) {
        return call.phase === 'approval' ? endLost(call, error) : undefined;
      } finally {
        call.goOn();
        startClock();
      }
    },
  };
}
