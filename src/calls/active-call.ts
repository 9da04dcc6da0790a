import { countedAs } from '../config/anonymous.ts';
import type { Deadline } from '../engines/deadline.ts';
import type { HotcellError } from '../errors/hotcell-error.ts';
import type { Approval } from '../permissions/approval-types.ts';
import type { QueuePlace } from '../queues/fair-queue.ts';
import type { HeldPlace } from '../queues/place-count.ts';
import type { PreparedTool } from '../tools/prepared-tool.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { Unit } from '../units/unit.ts';
import { createLogTail } from './attempt/log-tail.ts';
import type { CallAnswer, CallRequest } from './call-types.ts';
import { CallNotes } from './record/call-notes.ts';
import type { ExecutionRecord } from './record/execution-record.ts';

/**
 * Where a call stands: waiting for a person's leave to begin, in the queue, waiting for its shared cell, in its engine, out
 * of it but not yet recorded, between two attempts, or over.
 */
export type CallPhase = 'approval' | 'queued' | 'cell-wait' | 'started' | 'ending' | 'back-off' | 'ended';

/** What a call begins with. */
export type ActiveCallFacts = Pick<ActiveCall, 'request' | 'entry' | 'tool' | 'record' | 'deadline' | 'cellKey'>;

/** One accepted call. The dispatcher and the journey change it in place: thousands of them may wait. */
export class ActiveCall {
  readonly request: CallRequest;
  readonly entry: ToolEntry;
  readonly tool: PreparedTool;
  readonly record: ExecutionRecord;
  /** Time in the queue counts. */
  readonly deadline: Deadline;
  /** Tools under way above this call, outermost first, and its own: `name@version`. */
  readonly chain: readonly string[];
  /** The cell that it shares with other calls, or empty. */
  readonly cellKey: string;
  /** As it is counted: anonymous callers are one. Whose it is stands in the record. */
  readonly callerId: string;
  readonly pluginPath: string;
  readonly isOperator: boolean;
  readonly log = createLogTail();
  readonly controller = new AbortController();
  readonly answered: Promise<CallAnswer>;
  readonly resolve: (answer: CallAnswer) => void;
  readonly reject: (error: unknown) => void;
  phase: CallPhase = 'queued';
  place: QueuePlace<ActiveCall> | undefined;
  /** Counts it among those that wait for their turn, and among those that run. */
  pending: HeldPlace | undefined;
  running: HeldPlace | undefined;
  /** Fires at the deadline while the call waits here; an engine keeps the deadline itself. */
  timer: NodeJS.Timeout | undefined;
  /** The plugin's own schema refused the arguments: the call ends as one whose arguments were refused before it ran. */
  refused: HotcellError | undefined;
  /** Gives its idempotency key back: the call had no effect. */
  releaseKey: (() => void) | undefined;
  /** Counts the call out of its generation. */
  leave: (() => void) | undefined;
  /** Hears the caller's own signal. */
  onAbort: (() => void) | undefined;
  /** What is asked of a person before the call may begin. */
  approval: Approval | undefined;
  /** The memory of a call that goes on after a restart, until it is in its engine. */
  suspended: Uint8Array | undefined;
  /** It is kept as it waits now: the end of the daemon does not end it. */
  isParked = false;
  /** It asked a person in the middle. */
  hasAsked = false;
  readonly notes = new CallNotes();
  /** It asked the host for something that leaves a trace. */
  hasEffects = false;
  /** It was run again on a higher engine, from a build of the same content for that. */
  escalated:
    | {
        readonly unit: Unit;
        readonly from: string;
        readonly to: string;
        readonly reason: string;
      }
    | undefined;
  /** The daemon ends, and the call is left to the next one. */
  isLeft = false;
  /** `performance.now()` of the first start. */
  startedAt = 0;
  readonly enteredAt = performance.now();

  constructor(facts: ActiveCallFacts) {
    this.request = facts.request;
    this.entry = facts.entry;
    this.tool = facts.tool;
    this.record = facts.record;
    this.deadline = facts.deadline;
    this.cellKey = facts.cellKey;
    this.callerId = countedAs(facts.request.caller.id);
    this.isOperator = facts.request.caller.role === 'admin';
    this.pluginPath = facts.entry.served.unit.path;
    this.chain = [...(facts.request.parent?.chain ?? []), `${facts.entry.name}@${facts.entry.version}`];
    const { promise, resolve, reject } = Promise.withResolvers<CallAnswer>();
    this.answered = promise;
    this.resolve = resolve;
    this.reject = reject;
  }
}
