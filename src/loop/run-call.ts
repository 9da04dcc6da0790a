import { createHash } from 'node:crypto';
import type { Caller } from '../callers/caller.ts';
import type { CallAnswer, Execution, ExecutionReader, ToolCaller } from '../calls/call-types.ts';
import type { Deadline } from '../engines/deadline.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import type { PlannedCall } from './decide-round.ts';
import type { LoopCallStatus } from './loop.ts';
import { type ReadOutput, readOutput } from './read-output.ts';

/** One call of a loop, as whoever runs it needs it. */
export interface LoopCall {
  readonly loopId: string;
  readonly caller: Caller;
  readonly session: string | undefined;
  readonly round: number;
  readonly planned: Extract<PlannedCall, { does: 'run' }>;
  /** It began before the daemon ended: it is waited for, and not made again. */
  readonly executionId: string | undefined;
  /** Of the loop; stands still while a person is asked. */
  readonly deadline: Deadline;
  readonly signal: AbortSignal;
  /** Told the id of its execution. Must not throw. */
  readonly onAccepted: (executionId: string) => void;
  /** A person is asked in it. Must not throw. */
  readonly onWaiting: (executionId: string, approval: string) => void;
}

/** What came of a call, nothing of it bounded yet. */
export interface RanLoopCall extends Partial<Pick<ReadOutput, 'media'>> {
  readonly status: LoopCallStatus;
  readonly text: string;
  readonly executionId?: string;
}

/** Runs one call. What fails is a result that the model reads; rejects with `shutting-down` when the daemon ends before the call does. */
export type RunLoopCall = (call: LoopCall) => Promise<RanLoopCall>;

interface Parts {
  readonly caller: Pick<ToolCaller, 'call' | 'ended' | 'cancel'>;
  readonly executions: Pick<ExecutionReader, 'get'>;
  readonly events: Pick<EventLog, 'subscribe'>;
  readonly approvals: Pick<Approvals, 'list'>;
  /** Who a caller is now: its rules may have changed while the loop ran. */
  readonly findCaller: (id: string) => Caller | undefined;
}

/** The longest delay of a timer. */
const foreverMs = 2 ** 31 - 1;
const maxQuestions = 1000;

const cutOff = new HotcellError(
  'interrupted',
  'The daemon stopped when this call began; whether its effects took place is not known, and it was not made again.',
);

/** Creates what runs calls through the call journey, as calls of a model with the rights of the caller. No call runs twice. */
export function createLoopCallRunner({ caller: toolCaller, executions, events, approvals, findCaller }: Parts): RunLoopCall {
  async function begin(call: LoopCall, onAccepted: (executionId: string) => void): Promise<RanLoopCall> {
    const { loopId, caller, session, round, planned, deadline, signal } = call;
    const answer = await toolCaller.call({
      ref: planned.tool.ref,
      arguments: planned.arguments,
      caller: findCaller(caller.id) ?? caller,
      ...(session !== undefined && { session }),
      timeoutMs: Math.max(1, Math.floor(deadline.leftMs())),
      idempotencyKey: keyOf(loopId, planned.call.id),
      isForModel: true,
      turn: `${loopId} ${round}`,
      onAccepted,
      signal,
    });
    return toRanCall(answer);
  }

  /** A call of the last run of the daemon, or one that was made under the same key: from its record, once it has ended. */
  async function follow(executionId: string, { caller, signal }: LoopCall): Promise<RanLoopCall> {
    const cancel = (): void => void toolCaller.cancel(executionId, caller);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      await toolCaller.ended(executionId, foreverMs, new AbortController().signal);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
    const execution = executions.get(executionId, caller);
    if (execution.status === 'pending' || execution.status === 'running') throw leftBehind(executionId);
    return describeExecution(execution);
  }

  /** Tells of the questions in an execution, and stops the clock of the loop while one is open. */
  function watchQuestions(executionId: string, { caller, deadline, onWaiting }: LoopCall): () => void {
    const releases = new Map<string, () => void>();
    const open = (approval: string): void => {
      if (releases.has(approval)) return;
      releases.set(approval, deadline.hold());
      onWaiting(executionId, approval);
    };
    const close = (approval: string): void => {
      releases.get(approval)?.();
      releases.delete(approval);
    };
    const unsubscribe = events.subscribe({ execution: executionId }, ({ type, data }) => {
      if (type === 'approval-request') open(data.approval);
      else if (type === 'approval-answer') close(data.approval);
    });
    const asked = approvals.list({ caller: caller.id, status: 'open', executionId, limit: maxQuestions });
    for (const { id } of asked) open(id);
    return () => {
      unsubscribe();
      for (const approval of [...releases.keys()]) close(approval);
    };
  }

  return async (call) => {
    let endWatch: (() => void) | undefined;
    const accept = (executionId: string): void => {
      call.onAccepted(executionId);
      endWatch ??= watchQuestions(executionId, call);
    };
    try {
      if (call.executionId === undefined) return await begin(call, accept);
      accept(call.executionId);
      return await follow(call.executionId, call);
    } catch (error) {
      if (!(error instanceof HotcellError) || error.code === 'shutting-down') throw error;
      // The daemon was killed between the acceptance of the call and its record.
      if (error.code === 'execution-unknown') return toRefusedCall(cutOff);
      const { executionId } = error.facts;
      const isSame = error.code === 'idempotency-in-progress' || error.code === 'conflict';
      if (!isSame || typeof executionId !== 'string') return toRefusedCall(error);
      accept(executionId);
      return await follow(executionId, call);
    } finally {
      endWatch?.();
    }
  };
}

/** The id of a call is the model's, and may be long. */
function keyOf(loopId: string, callId: string): string {
  return `loop-${createHash('sha256')
    .update(JSON.stringify([loopId, callId]))
    .digest('base64url')}`;
}

/** How a call ended, as far as a model is told. */
type EndedCall = Pick<CallAnswer, 'status' | 'output'> & {
  readonly executionId?: string;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
};

/** What the model reads of a call that ran. */
export function toRanCall({ executionId, status, output, error }: EndedCall): RanLoopCall {
  const ran = executionId === undefined ? { status } : { status, executionId };
  if (status === 'success') return { ...ran, ...readOutput(output) };
  return { ...ran, text: error === undefined ? `The call ended as ${status}.` : `${error.message} (${error.code})` };
}

/** What the model reads of a call that did not begin. */
export function toRefusedCall({ code, message }: HotcellError): RanLoopCall {
  return { status: code === 'cancelled' ? 'cancelled' : 'error', text: `${message} (${code})` };
}

function describeExecution({ id: executionId, status, output, error, cut }: Execution): RanLoopCall {
  if (status === 'pending' || status === 'running') throw leftBehind(executionId);
  const ran = toRanCall({ executionId, status, ...(output !== undefined && { output }), ...(error && { error }) });
  return cut?.output === undefined
    ? ran
    : { ...ran, text: `${ran.text}\n[cut: the output of ${cut.output} bytes was not kept whole.]` };
}

function leftBehind(executionId: string): HotcellError {
  return new HotcellError('shutting-down', `The daemon stops before the call ${executionId} has ended.`);
}
