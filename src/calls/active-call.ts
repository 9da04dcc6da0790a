import type { QueuePlace } from '../concurrency/fair-queue.ts';
import type { HeldPlace } from '../concurrency/place-count.ts';
import { countedAs } from '../config/counted-callers.ts';
import type { Deadline } from '../engines/deadline.ts';
import type { HotcellError } from '../errors/hotcell-error.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';
import type { PreparedTool } from '../tools/prepared-tool.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { ServedUnit, Unit } from '../units/unit.ts';
import type { CallAnswer, CallRequest } from './call-types.ts';
import { CallNotes, LogTail } from './record/call-notes.ts';
import type { ExecutionRecord } from './record/execution-record.ts';

/**
 * Where a call stands: waiting for a person's leave to begin, in the queue, waiting for its shared cell, in its engine, out
 * of it but not yet recorded, between two attempts, or over.
 */
export type CallPhase = 'approval' | 'queued' | 'cell-wait' | 'started' | 'ending' | 'back-off' | 'ended';

/** What a call begins with. */
export type ActiveCallFacts = Pick<ActiveCall, 'request' | 'entry' | 'tool' | 'record' | 'deadline'>;

/** What ended a call from outside while it waited, and where it stood then. */
export interface StoppedCall {
  readonly status: 'cancelled' | 'timeout';
  readonly phase: CallPhase;
}

/** One accepted call. It is changed in place by the stage that it is in: thousands of them may wait. */
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
  readonly unitPath: string;
  readonly isAdmin: boolean;
  readonly log = new LogTail();
  readonly controller = new AbortController();
  readonly answered: Promise<CallAnswer>;
  readonly resolve: (answer: CallAnswer) => void;
  readonly reject: (error: unknown) => void;
  phase: CallPhase = 'queued';
  /** Set where the call was ended from outside while it waited. */
  stopped: StoppedCall | undefined;
  place: QueuePlace<ActiveCall> | undefined;
  /** Counts it among those that wait for their turn, and among those that run. */
  pending: HeldPlace | undefined;
  running: HeldPlace | undefined;
  /** Whether the call has its turn in its shared cell, which it keeps until it is over. */
  hasCell = false;
  /** The plugin's own schema refused the arguments: the call ends as one whose arguments were refused before it ran. */
  refused: HotcellError | undefined;
  /** Gives its idempotency key back: the call had no effect. */
  releaseKey: (() => void) | undefined;
  /** Counts the call out of its generation. */
  leave: (() => void) | undefined;
  /** What is asked of a person before the call may begin. */
  approval: Approval | undefined;
  /** The memory of a call that goes on after a restart, until it is in its engine. */
  suspended: Uint8Array | undefined;
  /** Whether the call is kept as it waits now: the end of the daemon does not end it. */
  isParked = false;
  /** Whether the call asked a person in the middle. */
  hasAsked = false;
  readonly notes = new CallNotes();
  /** Whether the call asked the host for something that leaves a trace. */
  hasEffects = false;
  /** Set where the call was run again on a higher engine, from a build of the same content for that. */
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
  #wait: { readonly end: () => void; readonly onStop: (() => void) | undefined } | undefined;

  constructor(facts: ActiveCallFacts) {
    this.request = facts.request;
    this.entry = facts.entry;
    this.tool = facts.tool;
    this.record = facts.record;
    this.deadline = facts.deadline;
    this.cellKey = cellKeyOf(facts.entry.served, facts.record.caller, facts.record.session);
    this.callerId = countedAs(facts.request.caller.id);
    this.isAdmin = facts.request.caller.role === 'admin';
    this.unitPath = facts.entry.served.unit.path;
    this.chain = [...(facts.request.parent?.chain ?? []), `${facts.entry.name}@${facts.entry.version}`];
    const { promise, resolve, reject } = Promise.withResolvers<CallAnswer>();
    this.answered = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  /**
   * Waits where the call stands until `goOn`, `stop` or, if the wait is timed, its deadline. `onStop` takes the call out of
   * whatever it waits in.
   */
  async wait({ isTimed = true, onStop }: { isTimed?: boolean; onStop?: () => void } = {}): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wait = { end: resolve, onStop };
    const leftMs = Math.max(1, this.deadline.leftMs());
    const timer = isTimed ? setTimeout(() => this.stop('timeout'), leftMs) : undefined;
    await promise;
    clearTimeout(timer);
  }

  /** Ends the wait, if the call waits. */
  goOn(): void {
    this.#wait?.end();
    this.#wait = undefined;
  }

  /** Ends the call from outside; an engine that has it hears the signal. False when it was over, or is about to be. */
  stop(status: StoppedCall['status']): boolean {
    if (this.phase === 'started') {
      this.controller.abort();
      return true;
    }
    if (this.#wait === undefined) return false;
    this.#wait.onStop?.();
    this.stopped = { status, phase: this.phase };
    this.phase = 'ending';
    this.goOn();
    return true;
  }

  /** The daemon ends, and its next run goes on with the call. */
  leaveToNextRun(): void {
    this.isLeft = true;
    this.#wait?.onStop?.();
    this.phase = 'ended';
    this.controller.abort();
    this.goOn();
  }
}

/**
 * Names the cell that a call shares: a `session` cell belongs to a caller, a session and a plugin, a `plugin` cell to a
 * plugin; a `call` cell is shared with nobody and has an empty name. Generations share names, so that a newer one takes over
 * the state of the older. Keys are JSON: no choice of session name can collide with somebody else's.
 */
export function cellKeyOf({ unit }: ServedUnit, callerId: string, session: string): string {
  switch (unit.manifest.isolation) {
    case 'call':
      return '';
    case 'session':
      return JSON.stringify([unit.path, callerId, session]);
    case 'plugin':
      return JSON.stringify([unit.path]);
  }
}
