import { quotas } from '../config/quotas.ts';
import type { ConversationAnswer } from '../conversation/answer.ts';
import type { JsonObject, Message, Part, ToolCallPart } from '../conversation/conversation.ts';
import { type ConversationRequest, namesOfTools, type ToolChoice } from '../conversation/request.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import type { LoopLimit, LoopRequest, LoopStop, LoopTool } from './loop.ts';
import type { LoopBounds } from './loop-budget.ts';
import { callsOf, hashCall, type LoopResult, type LoopState } from './loop-state.ts';

/** What a loop does with one call of the model: it runs it, or answers in the place of the tool. */
export type PlannedCall = { readonly call: ToolCallPart; readonly index: number } & (
  | { readonly does: 'run'; readonly tool: LoopTool; readonly arguments: JsonObject }
  | { readonly does: 'refuse'; readonly text: string; readonly isRepeat?: boolean }
);

/** What a loop does next. */
export type NextRound =
  | { readonly does: 'call'; readonly calls: readonly PlannedCall[] }
  | { readonly does: 'take-in' }
  | { readonly does: 'ask'; readonly pressedBy?: LoopLimit }
  | { readonly does: 'end'; readonly reason: LoopStop };

/** What decides beside the state. */
export interface RoundFacts {
  readonly request: Pick<LoopRequest, 'conversation' | 'tools' | 'bounds'>;
  readonly leftMs: number;
  readonly isCancelled: boolean;
}

const maxNameChars = 128;
const maxMediaBytes = quotas['loop.media'].each.max;

/** What a loop does where it stands. */
export function decideRound(state: LoopState, facts: RoundFacts): NextRound {
  if (state.stands === 'before-answer') return askOrStop(state, facts);
  const { answer } = state;
  if (answer?.failure !== undefined)
    return end(facts.isCancelled ? 'cancelled' : facts.leftMs <= 0 ? 'deadline' : 'model-failed');
  const isClients = clientNamesOf(facts.request);
  if (state.stands === 'at-answer') {
    const own = callsOf(answer).filter(({ name }) => !isClients(name));
    if (own.length > 0) return { does: 'call', calls: planCalls(state, facts, isClients) };
    if (callsOf(answer).length > 0) return end('client-calls');
    if (answer?.stop.kind === 'pause') return askOrStop(state, facts);
    // Cut off by whoever cancelled it, or by the time: what came is told, and is no whole answer.
    if (answer?.stop.kind === 'interrupted' && (facts.isCancelled || facts.leftMs <= 0))
      return end(facts.isCancelled ? 'cancelled' : 'deadline');
    const isOver = state.steering.length === 0 || state.pressedBy !== undefined;
    const next = isOver ? end('answered') : askOrStop(state, facts);
    return next.does === 'end' ? end('answered') : next;
  }
  if (callsOf(answer).some(({ name }) => isClients(name))) return end('client-calls');
  return state.pressedBy === undefined ? askOrStop(state, facts) : end(state.pressedBy);
}

function askOrStop(state: LoopState, { request: { bounds }, leftMs, isCancelled }: RoundFacts): NextRound {
  if (isCancelled) return end('cancelled');
  if (leftMs <= 0) return end('deadline');
  const { usage, cost = 0, rounds, followUps } = state;
  if (bounds.maxTokens !== undefined && usage.inputTokens + usage.outputTokens >= bounds.maxTokens) return end('tokens');
  if (bounds.maxCost !== undefined && cost >= bounds.maxCost) return end('money');
  if (rounds > 0 && followUps >= bounds.followUps) return end('max-rounds');
  if (state.steering.length > 0) return { does: 'take-in' };
  const pressedBy = state.stands === 'at-results' ? findLimit(state, bounds) : undefined;
  return { does: 'ask', ...(pressedBy && { pressedBy }) };
}

/** Why the model is to come to an end now. */
function findLimit({ isRepeating, failures, bytes, followUps }: LoopState, bounds: LoopBounds): LoopLimit | undefined {
  if (isRepeating) return 'repeated';
  if (failures >= bounds.repeats) return 'failing';
  if (bytes >= bounds.maxBytes) return 'max-bytes';
  return followUps + 1 >= bounds.followUps ? 'max-rounds' : undefined;
}

/** Which names of this conversation the client runs itself. */
export function clientNamesOf({ conversation, tools }: Pick<LoopRequest, 'conversation' | 'tools'>): (name: string) => boolean {
  const declared = namesOfTools(conversation);
  return (name) => declared.has(name) && !Object.hasOwn(tools, name);
}

/** What becomes of each call that is not the client's, in order. */
function planCalls(state: LoopState, facts: RoundFacts, isClients: (name: string) => boolean): PlannedCall[] {
  const { bounds, tools } = facts.request;
  const runs = new Map(state.runsByCall);
  let running = 0;
  return (state.answer?.parts ?? []).flatMap((part, index): PlannedCall[] => {
    if (part.type !== 'tool-call' || isClients(part.name)) return [];
    const refuse = (text: string, isRepeat = false): PlannedCall[] => [
      { call: part, index, does: 'refuse', text, ...(isRepeat && { isRepeat }) },
    ];
    if (facts.isCancelled) return refuse('The call was not run: it was cancelled.');
    if (state.pressedBy !== undefined) return refuse(`The call was not run. ${sayLimit(state.pressedBy, bounds)}`);
    const tool = Object.hasOwn(tools, part.name) ? tools[part.name] : undefined;
    if (tool === undefined) return refuse(sayUnknown(part.name, facts.request));
    if (part.arguments.state === 'broken') return refuse(part.arguments.problem);
    if (running >= bounds.maxCallsPerTurn) {
      return refuse(
        `The call was not run: at most ${bounds.maxCallsPerTurn} of one answer are. Ask again for what is still needed.`,
      );
    }
    const key = hashCall(part);
    const made = runs.get(key) ?? 0;
    if (made >= bounds.repeats) {
      return refuse(
        `The call was not run: it was made ${made} times already. Use what it answered, or try something else.`,
        true,
      );
    }
    runs.set(key, made + 1);
    running++;
    return [{ call: part, index, does: 'run', tool, arguments: part.arguments.value }];
  });
}

function sayUnknown(name: string, { conversation, tools }: Pick<LoopRequest, 'conversation' | 'tools'>): string {
  const known = [...Object.keys(tools), ...conversation.tools.map((tool) => tool.name)];
  return `There is no tool "${name.slice(0, maxNameChars)}".${suggestNearNames(name, known)} Nothing was run.`;
}

/** What the model is told of a limit. */
function sayLimit(limit: LoopLimit, bounds: LoopBounds): string {
  switch (limit) {
    case 'max-rounds':
      return 'The rounds of this answer are used up: no tool is run any more. Answer now with what you have, and say what is missing.';
    case 'max-bytes':
      return `The results have come to ${bounds.maxBytes} bytes: no tool is run any more. Answer now with what you have.`;
    case 'repeated':
      return 'The same call was made again and again: no tool is run any more. Answer now with what you have.';
    case 'failing':
      return `The last ${bounds.repeats} calls failed: no tool is run any more. Answer now, and say what did not work.`;
  }
}

/** What the model is asked next: what was said so far, and where a limit is reached a word about it in place of the tools. */
export function buildRequest(
  { conversation, bounds }: Pick<LoopRequest, 'conversation' | 'bounds'>,
  state: LoopState,
  pressedBy: LoopLimit | undefined,
): ConversationRequest {
  const added = pressedBy === undefined ? state.messages : addWord(state.messages, sayLimit(pressedBy, bounds));
  const { toolChoice } = conversation;
  const choice = pressedBy !== undefined ? ({ kind: 'none' } as const) : state.rounds === 0 ? toolChoice : relax(toolChoice);
  const left =
    bounds.maxTokens === undefined
      ? undefined
      : Math.max(1, bounds.maxTokens - state.usage.inputTokens - state.usage.outputTokens);
  const maxTokens = left === undefined ? conversation.maxTokens : Math.min(conversation.maxTokens ?? left, left);
  const { toolChoice: _asked, ...rest } = conversation;
  return {
    ...rest,
    messages: [...conversation.messages, ...added],
    ...(choice !== undefined && { toolChoice: choice }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
}

/** A model that must call a tool is never at an end: once it has, it may. */
function relax(choice: ToolChoice | undefined): ToolChoice | undefined {
  if (choice?.kind === 'required' || choice?.kind === 'tool') return { kind: 'auto' };
  return choice?.kind === 'some' ? { ...choice, mode: 'auto' } : choice;
}

/** The word stands in the last result, where every provider takes a text. */
function addWord(messages: readonly Message[], word: string): readonly Message[] {
  const at = messages.findLastIndex(({ role }) => role === 'tool');
  return messages.map((message, index) => {
    const last = message.parts.at(-1);
    if (index !== at || last?.type !== 'tool-result') return message;
    const content = [...last.content, { type: 'text' as const, text: word }];
    return { ...message, parts: [...message.parts.slice(0, -1), { ...last, content }] };
  });
}

/** Results as they fit into the bounds, in order. What is said about the rest comes on top. */
export function fitResults(results: readonly LoopResult[], usedBytes: number, bounds: LoopBounds): LoopResult[] {
  let left = Math.max(0, bounds.maxBytes - usedBytes);
  return results.map((result) => {
    const bytes = Buffer.byteLength(result.text);
    const room = Math.min(bounds.maxResultBytes, left);
    left -= Math.min(bytes, room);
    if (bytes <= room) return result;
    const note = `[${room === 0 ? '' : 'cut: '}the result has ${bytes} bytes; ${room} are shown.]`;
    return { ...result, text: room === 0 ? note : `${cutBytes(result.text, room)}\n${note}` };
  });
}

/** Media as they fit, in order: of what does not the model reads that it was left out. */
export function fitMedia(result: LoopResult, usedBytes: number): LoopResult {
  const { media = [] } = result;
  let left = maxMediaBytes - usedBytes;
  const shown = media.filter((part) => {
    const bytes = weighMedia(part);
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
  if (shown.length === media.length) return result;
  const note = `[${media.length - shown.length} of them left out: all that is shown in an answer has at most ${maxMediaBytes} bytes.]`;
  return { ...result, media: shown, text: `${result.text}\n${note}` };
}

/** How much of what may be shown these messages have. */
export function weighShown(messages: readonly Message[]): number {
  const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? part.content : [])));
  return results.reduce((sum, part) => sum + weighMedia(part), 0);
}

/** The size of what is shown beside a text. */
export function weighMedia(part: Part): number {
  return 'source' in part && part.source.kind === 'data' ? part.source.data.length : 0;
}

function cutBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes)).replace(/\uFFFD+$/, '');
}

/** An answer whose calls have ids that none before them has; those of the client keep theirs. */
export function nameCalls(
  answer: ConversationAnswer,
  before: readonly Message[],
  isClients: (name: string) => boolean,
): ConversationAnswer {
  const used = new Set(
    [...before.flatMap(({ parts }) => parts), ...answer.parts].flatMap((part) =>
      part.type === 'tool-call' && (isClients(part.name) || !answer.parts.includes(part)) ? [part.id] : [],
    ),
  );
  const parts = answer.parts.map((part, index) => {
    if (part.type !== 'tool-call' || isClients(part.name)) return part;
    let id = part.id;
    for (let count = 0; id === '' || used.has(id); count++)
      id = `${part.id.slice(0, 40) || 'call'}-${before.length}-${index + count}`;
    used.add(id);
    return { ...part, id };
  });
  return { ...answer, parts };
}

function end(reason: LoopStop): NextRound {
  return { does: 'end', reason };
}
