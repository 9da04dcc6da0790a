import { createHash } from 'node:crypto';
import type { ConversationAnswer, TokenUsage } from '../conversation/answer.ts';
import type { Message, Part, ToolCallPart } from '../conversation/conversation.ts';
import { canonicalJson } from '../tools/canonical-json.ts';
import type { LoopCallStatus, LoopLimit } from './loop.ts';
import type { ShownMedia } from './read-output.ts';

/** What came of one call, as the model reads it. */
export interface LoopResult {
  readonly callId: string;
  readonly name: string;
  readonly status: LoopCallStatus;
  readonly text: string;
  /** What is shown beside the text. */
  readonly media?: readonly ShownMedia[];
  readonly executionId?: string;
  /** It was a success of a tool marked isDeep. */
  readonly isDeep?: boolean;
  /** It was refused because it was made too often. */
  readonly isRepeat?: boolean;
}

/** One step of a loop, as it is kept: a loop is its request and its steps. */
export type LoopStep =
  | {
      readonly type: 'answer';
      /** Calls in it have ids of their own. */
      readonly answer: ConversationAnswer;
      readonly pressedBy?: LoopLimit;
      readonly cost?: number;
      readonly leftMs: number;
    }
  | { readonly type: 'accepted'; readonly callId: string; readonly executionId: string }
  | { readonly type: 'results'; readonly results: readonly LoopResult[]; readonly leftMs: number }
  | { readonly type: 'steer'; readonly messages: readonly Message[] }
  /** What was said to steer the loop stands among its messages now. */
  | { readonly type: 'taken' };

/** Where a loop stands. Steps change it through `applyStep` alone. */
export interface LoopState {
  readonly stands: 'before-answer' | 'at-answer' | 'at-results';
  /** What came after the messages of the request. */
  readonly messages: readonly Message[];
  readonly answer?: ConversationAnswer;
  /** Answers of the model. */
  readonly rounds: number;
  /** Times that the model was asked again, since a tool marked isDeep had success. */
  readonly followUps: number;
  readonly renewals: number;
  /** Of all results. */
  readonly bytes: number;
  /** Calls that failed, one after the other. */
  readonly failures: number;
  readonly runsByCall: ReadonlyMap<string, number>;
  readonly isRepeating: boolean;
  readonly pressedBy?: LoopLimit;
  readonly usage: TokenUsage;
  readonly cost: number | undefined;
  /** Calls of the last answer that are under way, by their ids. */
  readonly executions: ReadonlyMap<string, string>;
  /** Messages that wait to be taken in. */
  readonly steering: readonly Message[];
  /** As of the last step that tells. */
  readonly leftMs: number | undefined;
}

/** A loop before its first step. */
export const freshState: LoopState = {
  stands: 'before-answer',
  messages: [],
  rounds: 0,
  followUps: 0,
  renewals: 0,
  bytes: 0,
  failures: 0,
  runsByCall: new Map(),
  isRepeating: false,
  usage: { inputTokens: 0, outputTokens: 0 },
  cost: undefined,
  executions: new Map(),
  steering: [],
  leftMs: undefined,
};

/** The state after one more step. `maxRenewals`: how often deep work starts the count of follow-ups anew. */
export function applyStep(state: LoopState, step: LoopStep, maxRenewals: number): LoopState {
  switch (step.type) {
    case 'answer':
      return applyAnswer(state, step);
    case 'accepted':
      return { ...state, executions: new Map(state.executions).set(step.callId, step.executionId) };
    case 'results':
      return applyResults(state, step, maxRenewals);
    case 'steer':
      return { ...state, steering: [...state.steering, ...step.messages] };
    case 'taken':
      return {
        ...state,
        stands: state.stands === 'before-answer' ? 'before-answer' : 'at-results',
        messages: [...state.messages, ...state.steering],
        steering: [],
      };
  }
}

function applyAnswer(state: LoopState, { answer, pressedBy, cost, leftMs }: Extract<LoopStep, { type: 'answer' }>): LoopState {
  const isKept = answer.failure === undefined && answer.parts.length > 0;
  const message: Message = { role: 'assistant', parts: answer.parts };
  return {
    ...state,
    stands: 'at-answer',
    messages: isKept ? [...state.messages, message] : state.messages,
    answer,
    rounds: state.rounds + 1,
    followUps: state.rounds === 0 ? 0 : state.followUps + 1,
    ...(pressedBy && { pressedBy }),
    usage: addUsage(state.usage, answer.usage),
    cost: cost === undefined ? state.cost : (state.cost ?? 0) + cost,
    executions: new Map(),
    leftMs,
  };
}

function applyResults(
  state: LoopState,
  { results, leftMs }: Extract<LoopStep, { type: 'results' }>,
  maxRenewals: number,
): LoopState {
  const runsByCall = new Map(state.runsByCall);
  const callById = new Map(callsOf(state.answer).map((call) => [call.id, call] as const));
  let { failures } = state;
  for (const { callId, status } of results) {
    failures = status === 'success' ? 0 : failures + 1;
    const call = callById.get(callId);
    if (call === undefined || status === 'refused') continue;
    const key = hashCall(call);
    runsByCall.set(key, (runsByCall.get(key) ?? 0) + 1);
  }
  const isRenewed = state.renewals < maxRenewals && results.some(({ isDeep }) => isDeep);
  const message: Message = { role: 'tool', parts: results.map((result) => toPart(result, callById.get(result.callId))) };
  return {
    ...state,
    stands: 'at-results',
    messages: results.length === 0 ? state.messages : [...state.messages, message],
    followUps: isRenewed ? -1 : state.followUps,
    renewals: state.renewals + (isRenewed ? 1 : 0),
    bytes: results.reduce((sum, { text }) => sum + Buffer.byteLength(text), state.bytes),
    failures,
    runsByCall,
    isRepeating: state.isRepeating || results.some(({ isRepeat }) => isRepeat),
    executions: new Map(),
    leftMs,
  };
}

/** The calls of an answer, in order. */
export function callsOf(answer: ConversationAnswer | undefined): ToolCallPart[] {
  return answer?.parts.filter((part) => part.type === 'tool-call') ?? [];
}

/** What two calls have in common that ask for the same thing. */
export function hashCall({ name, arguments: given }: ToolCallPart): string {
  return createHash('sha256')
    .update(`${name} ${sayArguments(given)}`)
    .digest('base64url');
}

function sayArguments(given: ToolCallPart['arguments']): string {
  if (given.state === 'broken') return given.text;
  try {
    return canonicalJson(given.value);
  } catch {
    return given.text;
  }
}

function toPart({ callId, name, status, text, media = [] }: LoopResult, call: ToolCallPart | undefined): Part {
  return {
    type: 'tool-result',
    callId,
    name,
    content: [{ type: 'text', text }, ...media],
    isError: status !== 'success',
    ...(call?.isFreeText && { isFreeText: true }),
  };
}

const counts = ['cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const;

function addUsage(sum: TokenUsage, more: TokenUsage | undefined): TokenUsage {
  if (more === undefined) return sum;
  const rest = counts.flatMap((name) =>
    sum[name] === undefined && more[name] === undefined ? [] : [[name, (sum[name] ?? 0) + (more[name] ?? 0)]],
  );
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    ...Object.fromEntries(rest),
  };
}
