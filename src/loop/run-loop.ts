import type { ConversationAnswer, ModelFailure, StreamEvent, TokenUsage } from '../conversation/answer.ts';
import { createAnswerCollector } from '../conversation/collect-answer.ts';
import { type Deadline, watchDeadline } from '../engines/deadline.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Upstreams, UpstreamTarget } from '../models/upstream.ts';
import {
  buildRequest,
  clientNamesOf,
  decideRound,
  fitMedia,
  fitResults,
  nameCalls,
  type PlannedCall,
  weighMedia,
  weighShown,
} from './decide-round.ts';
import type { LoopEnd, LoopEvent, LoopLimit, LoopRequest, LoopStop } from './loop.ts';
import { applyStep, callsOf, type LoopResult, type LoopState, type LoopStep } from './loop-state.ts';
import type { RunLoopCall } from './run-call.ts';

/** What a loop needs of the daemon. */
export interface RunLoopParts {
  readonly upstreams: Pick<Upstreams, 'ask'>;
  readonly runCall: RunLoopCall;
  /** US dollars; undefined where no price is known. */
  readonly costOf?: ((target: UpstreamTarget, usage: TokenUsage) => number | undefined) | undefined;
}

/** A loop that runs. */
export interface RunningLoop {
  readonly request: LoopRequest;
  state: LoopState;
  readonly deadline: Deadline;
  /** Aborts when the loop is cancelled. */
  readonly signal: AbortSignal;
  /** Aborts when the daemon ends: the loop stops where it is. */
  readonly leaving: AbortSignal;
  /** Hears every step before it counts; what it throws ends the loop. */
  readonly keep: (step: LoopStep) => void;
}

/** Counts against the bound of an answer beside what is in an event, so that nobody answers for ever with nothing. */
const bytesOfEvent = 16;
const cutOff: ModelFailure = { kind: 'server-error', status: 502, message: 'The answer was cut off.' };

/**
 * Carries a loop from where it is to its end, which is the last event. Rejects with `shutting-down` when the daemon ends first, and with
 * what fails in the daemon itself.
 */
export async function* runLoop(loop: RunningLoop, parts: RunLoopParts): AsyncGenerator<LoopEvent, void> {
  for (;;) {
    const { request, deadline, signal, leaving } = loop;
    if (leaving.aborted) throw new HotcellError('shutting-down', `The daemon stops in the middle of the loop ${request.id}.`);
    const next = decideRound(loop.state, { request, leftMs: deadline.leftMs(), isCancelled: signal.aborted });
    switch (next.does) {
      case 'take-in': {
        const messages = loop.state.steering;
        note(loop, { type: 'taken' });
        yield { type: 'steered', messages };
        break;
      }
      case 'ask':
        yield* askModel(loop, parts, next.pressedBy);
        break;
      case 'call':
        yield* runCalls(loop, parts, next.calls);
        break;
      case 'end':
        yield { type: 'loop-end', ...describeEnd(loop, next.reason) };
        return;
    }
  }
}

function note(loop: RunningLoop, step: LoopStep): void {
  loop.keep(step);
  loop.state = applyStep(loop.state, step, loop.request.bounds.renewals);
}

/** One round: asks the model, and passes on what it says. */
async function* askModel(
  loop: RunningLoop,
  parts: RunLoopParts,
  pressedBy: LoopLimit | undefined,
): AsyncGenerator<LoopEvent, void> {
  const { request, deadline } = loop;
  const { bounds, caller, purpose } = request;
  const round = loop.state.rounds + 1;
  yield { type: 'round-start', round, ...(pressedBy && { pressedBy }) };
  const ending = new AbortController();
  const signal = AbortSignal.any([loop.signal, loop.leaving, ending.signal]);
  const endWatch = watchDeadline(deadline, () => ending.abort());
  const collector = createAnswerCollector();
  const asked = parts.upstreams.ask(buildRequest(request, loop.state, pressedBy), { caller, purpose, signal });
  let bytes = 0;
  try {
    for await (const event of asked.events) {
      bytes += weighEvent(event);
      if (bytes > bounds.maxAnswerBytes) break;
      collector.push(event);
      yield { type: 'model', round, event };
    }
  } catch (error) {
    // What came before the deadline or the cancelling counts, as an answer that was broken off.
    if (!signal.aborted) throw error;
  } finally {
    endWatch();
    ending.abort();
  }
  if (loop.leaving.aborted) return;
  const answer = describeAnswer(collector.answer(), bytes > bounds.maxAnswerBytes ? bounds.maxAnswerBytes : undefined);
  const target = asked.target();
  const cost = target && answer.usage && parts.costOf?.(target, answer.usage);
  note(loop, {
    type: 'answer',
    answer: nameCalls(answer, [...request.conversation.messages, ...loop.state.messages], clientNamesOf(request)),
    ...(pressedBy && { pressedBy }),
    ...(cost !== undefined && { cost }),
    leftMs: deadline.leftMs(),
  });
}

function weighEvent(event: StreamEvent): number {
  if (event.type === 'part-delta') return bytesOfEvent + event.text.length;
  // Texts that came in pieces were counted; arguments may come whole, with the end alone.
  if (event.type === 'part-end' && event.part.type === 'tool-call') return bytesOfEvent + event.part.arguments.text.length / 2;
  return bytesOfEvent;
}

function describeAnswer(answer: ConversationAnswer, tooLongFor: number | undefined): ConversationAnswer {
  if (tooLongFor === undefined) return answer;
  const message = `The answer has more than ${tooLongFor} bytes, and was not read to its end.`;
  return { ...answer, failure: { ...cutOff, kind: 'too-large', message } };
}

/** Runs the calls of one answer, those side by side whose tools are marked for it, and tells of each as it goes. */
async function* runCalls(loop: RunningLoop, parts: RunLoopParts, calls: readonly PlannedCall[]): AsyncGenerator<LoopEvent, void> {
  const { deadline, request } = loop;
  const news = createNews();
  let usedBytes = loop.state.bytes;
  let usedMedia = weighShown(loop.state.messages);
  const begun = new Set<string>();
  const tell = (event: LoopEvent): void => {
    if (event.type === 'call-start') begun.add(event.callId);
    news.add(event);
  };
  const finish = (planned: PlannedCall, result: LoopResult): LoopResult => {
    const [cut = result] = fitResults([result], usedBytes, request.bounds);
    usedBytes += Buffer.byteLength(cut.text);
    const fitted = fitMedia(cut, usedMedia);
    usedMedia += (fitted.media ?? []).reduce((sum, part) => sum + weighMedia(part), 0);
    const { callId, name, status, text, executionId } = fitted;
    const ran = executionId === undefined ? {} : { executionId };
    const facts = { round: loop.state.rounds, callId, name, index: planned.index };
    if (!begun.has(callId)) tell({ type: 'call-start', ...facts });
    tell({ type: 'call-end', ...facts, status, result: text, ...ran });
    return fitted;
  };
  const all = Promise.all(calls.map(async (planned) => finish(planned, await carryOut(loop, parts, planned, tell))));
  all.then(news.end, news.end);
  yield* news.events();
  note(loop, { type: 'results', results: await all, leftMs: deadline.leftMs() });
}

async function carryOut(
  loop: RunningLoop,
  parts: RunLoopParts,
  planned: PlannedCall,
  tell: (event: LoopEvent) => void,
): Promise<LoopResult> {
  const { request, state, deadline, signal } = loop;
  const { call, index } = planned;
  const facts = { callId: call.id, name: call.name };
  const round = state.rounds;
  if (planned.does === 'refuse') {
    return { ...facts, status: 'refused', text: planned.text, ...(planned.isRepeat && { isRepeat: true }) };
  }
  const ran = await parts.runCall({
    loopId: request.id,
    caller: request.caller,
    session: request.session,
    round,
    planned,
    executionId: state.executions.get(call.id),
    deadline,
    signal,
    onAccepted(executionId) {
      if (!loop.state.executions.has(call.id)) note(loop, { type: 'accepted', callId: call.id, executionId });
      tell({ type: 'call-start', round, index, ...facts, executionId });
    },
    onWaiting: (executionId, approval) => tell({ type: 'call-waiting', round, ...facts, executionId, approval }),
  });
  return { ...facts, ...ran, ...(ran.status === 'success' && planned.tool.isDeep && { isDeep: true }) };
}

/** What several calls tell, in the order in which it happens. */
function createNews() {
  const waiting: LoopEvent[] = [];
  let isOver = false;
  let wake = Promise.withResolvers<void>();
  return {
    add(event: LoopEvent): void {
      waiting.push(event);
      wake.resolve();
    },
    end(): void {
      isOver = true;
      wake.resolve();
    },
    async *events(): AsyncGenerator<LoopEvent, void> {
      for (;;) {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
        if (isOver) return;
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    },
  };
}

/** How a loop ended, for whoever asked for it. */
export function describeEnd({ request, state }: Pick<RunningLoop, 'request' | 'state'>, reason: LoopStop): LoopEnd {
  return {
    reason,
    ...(state.pressedBy && { pressedBy: state.pressedBy }),
    answer: describeLast(request, state.answer),
    messages: state.messages,
    usage: state.usage,
    ...(state.cost !== undefined && { cost: state.cost }),
    rounds: state.rounds,
    untaken: state.steering,
  };
}

/** The answer without the calls that are none of the client's; one that has none left does not say that it calls. */
function describeLast(request: LoopRequest, last: ConversationAnswer | undefined): ConversationAnswer {
  const answer = last ?? { id: '', model: request.conversation.model, parts: [], stop: { kind: 'interrupted' } };
  const isClients = clientNamesOf(request);
  const parts = answer.parts.filter((part) => part.type !== 'tool-call' || isClients(part.name));
  const calls = callsOf({ ...answer, parts });
  const stop = answer.stop.kind === 'tool-calls' && calls.length === 0 ? ({ kind: 'end' } as const) : answer.stop;
  return { ...answer, parts, stop };
}
