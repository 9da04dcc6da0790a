import type { Caller } from '../callers/caller.ts';
import type { ConversationAnswer, StreamEvent, TokenUsage } from '../conversation/answer.ts';
import type { Message } from '../conversation/conversation.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import type { AskedBy } from '../models/upstream.ts';
import type { LoopBounds } from './loop-budget.ts';

/** A tool that the daemon runs in one loop. */
export interface LoopTool {
  /** What is called: `name`, `name@version` or `name@range`. */
  readonly ref: string;
  readonly isDeep?: boolean;
}

/**
 * The tools that the daemon runs in one loop, by the names under which the model was told of them. Of the other names, those that the
 * conversation declares are the client's, and whatever else the model calls does not exist.
 */
export type LoopTools = Readonly<Record<string, LoopTool>>;

/** What a loop is made of. Everything but the signal is kept, so that the daemon can go on with it after a restart. */
export interface LoopRequest {
  /** Chosen by who starts the loop; the same after a restart. */
  readonly id: string;
  /** Tools that the model is told of are in it already. */
  readonly conversation: ConversationRequest;
  readonly tools: LoopTools;
  readonly bounds: LoopBounds;
  readonly caller: Caller;
  readonly session?: string;
  readonly purpose: AskedBy['purpose'];
  /** Aborting cancels the loop; a loop that is to outlive its client has none. */
  readonly signal?: AbortSignal;
}

/** Bounds that a model was told of before they ended the loop: it is asked once more, without tools, to answer with what it has. */
export type LoopLimit = 'max-rounds' | 'max-bytes' | 'repeated' | 'failing';

/** Why a loop is over. `client-calls`: the last answer calls tools of the client. */
export type LoopStop =
  | 'answered'
  | 'client-calls'
  | LoopLimit
  | 'deadline'
  | 'tokens'
  | 'money'
  | 'cancelled'
  | 'model-failed'
  | 'failed';

/** How one call of the daemon's tools ended. `refused`: it was not run. */
export type LoopCallStatus = 'success' | 'error' | 'timeout' | 'cancelled' | 'refused';

/** One call of a tool of the daemon. */
interface LoopCallFacts {
  readonly round: number;
  readonly callId: string;
  readonly name: string;
}

/** How a loop ended. */
export interface LoopEnd {
  readonly reason: LoopStop;
  /** The model answered because it was told to come to an end. */
  readonly pressedBy?: LoopLimit;
  /** The last answer, without the calls that the daemon ran or refused. */
  readonly answer: ConversationAnswer;
  /** Everything that came after the messages of the request, the last answer included. Calls of the client alone have no result. */
  readonly messages: readonly Message[];
  /** Of all rounds together. */
  readonly usage: TokenUsage;
  /** US dollars, where prices are known. */
  readonly cost?: number;
  readonly rounds: number;
  /** Steering messages that came too late. */
  readonly untaken: readonly Message[];
  /** Of the reason `failed`. */
  readonly error?: { readonly code: ErrorCode; readonly message: string; readonly fix: string };
}

/** What happens in a loop. `round-start` begins a round, `loop-end` comes last and once. */
export type LoopEvent =
  | { readonly type: 'round-start'; readonly round: number; readonly pressedBy?: LoopLimit }
  /** As the model said it; indexes begin anew with every round. */
  | { readonly type: 'model'; readonly round: number; readonly event: StreamEvent }
  /** `index`: the part of the answer that calls. The id may be another than the model's, where that one was used before. */
  | ({ readonly type: 'call-start'; readonly index: number; readonly executionId?: string } & LoopCallFacts)
  | ({ readonly type: 'call-waiting'; readonly executionId: string; readonly approval: string } & LoopCallFacts)
  | ({
      readonly type: 'call-end';
      readonly index: number;
      readonly status: LoopCallStatus;
      readonly executionId?: string;
      /** As the model reads it. */
      readonly result: string;
    } & LoopCallFacts)
  | { readonly type: 'steered'; readonly messages: readonly Message[] }
  | ({ readonly type: 'loop-end' } & LoopEnd);

/** What can be seen of a loop from outside. */
export interface LoopView {
  readonly id: string;
  readonly caller: string;
  readonly purpose: AskedBy['purpose'];
  readonly model: string;
  readonly state: 'running' | 'ended';
  readonly rounds: number;
  /** Of this turn, while it runs. */
  readonly calls: ReadonlyArray<{
    readonly callId: string;
    readonly name: string;
    readonly executionId?: string;
    readonly approval?: string;
  }>;
  readonly usage: TokenUsage;
  readonly startedAtMs: number;
  readonly end?: LoopEnd;
  readonly endedAtMs?: number;
}
