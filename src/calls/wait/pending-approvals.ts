import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Approval } from '../../permissions/approvals/approval-types.ts';
import type { Approvals } from '../../permissions/approvals/approvals.ts';
import type { Store } from '../../store/store-types.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { Refusal } from '../accept/admission.ts';
import type { ActiveCall } from '../active-call.ts';
import type { StageParts } from '../call-parts.ts';
import type { CallRequest } from '../call-types.ts';
import { endWithError } from '../record/call-end.ts';
import type { CallEnd } from '../record/execution-record.ts';
import type { DurableWaits } from './durable-waits.ts';
import { describeParked } from './parked-facts.ts';

/** Calls that wait for a person to let them begin: they have no place in the queue, and their clock stands still. */
export type PendingApprovals = ReturnType<typeof createPendingApprovals>;

/** Creates the waiting room. The functions must not throw. */
export function createPendingApprovals(
  parts: Pick<StageParts, 'now' | 'onFault'> & {
    readonly approvals: Pick<Approvals, 'settled'>;
    readonly store: Pick<Store, 'parkedCalls'>;
    readonly waits: Pick<DurableWaits, 'areAboveKept' | 'holdAbove'>;
    /** Why the call may not begin any more, although a person let it. */
    readonly findRefusal: (call: ActiveCall) => CallEnd | undefined;
  },
) {
  const { approvals, store, waits, now, onFault } = parts;

  /** Returns what lets go of the calls above. */
  function keep(call: ActiveCall, approval: Approval): () => void {
    if (call.request.parent !== undefined && !waits.areAboveKept(call)) return () => {};
    if (!call.isParked) put(call, approval);
    return waits.holdAbove(call);
  }

  function put(call: ActiveCall, { argumentsHash }: Approval): void {
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
    return endWithError('error', { code, message: told });
  }

  return {
    /** Waits for the answer to a question. Resolves with the end of a call that may not begin. Never rejects. */
    async wait(call: ActiveCall, approval: Approval): Promise<CallEnd | undefined> {
      call.phase = 'approval';
      const startClock = call.deadline.hold();
      const releaseAbove = keep(call, approval);
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
        releaseAbove();
      }
    },
  };
}

/** How a call ends that may not begin. */
function endUnapproved(status: Exclude<Approval['status'], 'open' | 'approved'>): CallEnd {
  switch (status) {
    case 'denied':
      return endWithError('error', {
        code: 'approval-denied',
        message: 'A person was asked to let this call begin, and said no.',
      });
    case 'expired':
      return endWithError('error', { code: 'approval-expired', message: 'Nobody let this call begin in time.' });
    case 'withdrawn':
      return endWithError('cancelled', {
        code: 'cancelled',
        message: 'The question whether this call may begin was taken back.',
      });
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
    return endWithError('error', { code: 'plugin-not-ready', message });
  }
  const refusal = findRefusal(entry, request);
  if (refusal === undefined || refusal.code === 'queue-full') return undefined;
  return endWithError('error', refusal);
}
