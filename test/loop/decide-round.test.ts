import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConversationAnswer } from '../../src/conversation/answer.ts';
import type { Message, Part, ToolCallPart } from '../../src/conversation/conversation.ts';
import type { ConversationRequest } from '../../src/conversation/request.ts';
import { argumentsOf, readToolArguments } from '../../src/conversation/tool-arguments.ts';
import {
  buildRequest,
  clientNamesOf,
  decideRound,
  fitResults,
  type NextRound,
  nameCalls,
  type RoundFacts,
} from '../../src/loop/decide-round.ts';
import type { LoopCallStatus, LoopStop } from '../../src/loop/loop.ts';
import type { LoopBounds } from '../../src/loop/loop-budget.ts';
import { applyStep, callsOf, freshState, type LoopResult, type LoopState } from '../../src/loop/loop-state.ts';
import { findBreaches } from '../conversation/breaches.ts';

const wide: LoopBounds = {
  repeats: 5,
  followUps: 5,
  renewals: 0,
  maxCallsPerTurn: 32,
  maxResultBytes: 1000,
  maxBytes: 10_000,
  maxAnswerBytes: 1_000_000,
  timeoutMs: 60_000,
};
const question: Message = { role: 'user', parts: [{ type: 'text', text: 'What now?' }] };
const tools = { weather: { ref: 'weather' }, digs: { ref: 'digs@1.0.0', isDeep: true } };
const conversation: ConversationRequest = {
  model: 'm',
  system: [],
  messages: [question],
  tools: ['weather', 'digs', 'Read'].map((name) => ({ name, parameters: { type: 'object' } })),
  nativeTools: [{ format: 'anthropic', value: { type: 'bash_20250124', name: 'bash' } }],
  sampling: {},
  isStreamed: true,
};

const call = (name: string, id: string, args: object = {}): ToolCallPart => ({
  type: 'tool-call',
  id,
  name,
  arguments: argumentsOf({ ...args }),
});
const answerOf = (parts: readonly Part[], more: Partial<ConversationAnswer> = {}): ConversationAnswer => ({
  id: 'a',
  model: 'm',
  parts,
  stop: { kind: parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'end' },
  ...more,
});

/** A loop without a model and without tools: `answers` and `outcomes` stand for them. */
function play(options: {
  readonly bounds?: Partial<LoopBounds>;
  readonly answers: (round: number, request: ConversationRequest) => ConversationAnswer;
  readonly outcome?: (call: ToolCallPart) => { status: Exclude<LoopCallStatus, 'refused'>; text: string };
  readonly leftMs?: (round: number) => number;
  readonly isCancelled?: (round: number) => boolean;
  readonly steer?: (round: number) => readonly Message[];
}) {
  const bounds = { ...wide, ...options.bounds };
  const request: RoundFacts['request'] = { conversation, tools, bounds };
  const asked: ConversationRequest[] = [];
  const results: LoopResult[] = [];
  const ran: string[] = [];
  let state: LoopState = freshState;
  for (let steps = 0; steps < 1000; steps++) {
    const { rounds } = state;
    const leftMs = options.leftMs?.(rounds) ?? 1000;
    const next: NextRound = decideRound(state, { request, leftMs, isCancelled: options.isCancelled?.(rounds) ?? false });
    const apply = (step: Parameters<typeof applyStep>[1]) => {
      state = applyStep(state, step, bounds.renewals);
    };
    if (next.does === 'end') return { reason: next.reason satisfies LoopStop, state, asked, results, ran, request };
    if (next.does === 'take-in') apply({ type: 'taken' });
    if (next.does === 'ask') {
      const built = buildRequest(request, state, next.pressedBy);
      asked.push(built);
      const said = options.answers(rounds + 1, built);
      const answer = nameCalls(said, [...conversation.messages, ...state.messages], clientNamesOf(request));
      apply({ type: 'answer', answer, ...(next.pressedBy && { pressedBy: next.pressedBy }), leftMs });
      const messages = options.steer?.(rounds + 1) ?? [];
      if (messages.length > 0) apply({ type: 'steer', messages });
    }
    if (next.does === 'call') {
      const raw = next.calls.map((planned): LoopResult => {
        const facts = { callId: planned.call.id, name: planned.call.name };
        if (planned.does === 'refuse') {
          return { ...facts, status: 'refused', text: planned.text, ...(planned.isRepeat && { isRepeat: true }) };
        }
        ran.push(planned.call.id);
        const { status, text } = options.outcome?.(planned.call) ?? { status: 'success', text: 'ok' };
        return { ...facts, status, text, ...(status === 'success' && planned.tool.isDeep && { isDeep: true }) };
      });
      const fitted = fitResults(raw, state.bytes, bounds);
      results.push(...fitted);
      apply({ type: 'results', results: fitted, leftMs });
    }
  }
  throw new Error('The loop has no end.');
}

const textsOf = (request: ConversationRequest | undefined): string =>
  JSON.stringify(request?.messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool-result')));

describe('decideRound', () => {
  it('ends with the answer, and with the calls of the client', () => {
    const first = play({ answers: () => answerOf([{ type: 'text', text: 'Done.' }]) });
    expect([first.reason, first.state.rounds]).toEqual(['answered', 1]);
    const native = play({ answers: () => answerOf([call('bash', 'c1')]) });
    expect([native.reason, native.ran]).toEqual(['client-calls', []]);
  });

  it('runs its own of a mixed turn, and leaves those of the client without results', () => {
    const { reason, state, ran } = play({ answers: () => answerOf([call('Read', 'r1'), call('weather', 'w1')]) });
    expect([reason, ran, state.rounds]).toEqual(['client-calls', ['w1'], 1]);
    expect(state.messages.map(({ role, parts }) => [role, parts.length])).toEqual([
      ['assistant', 2],
      ['tool', 1],
    ]);
  });

  it('tells the model that its rounds are used up before it ends the loop', () => {
    const { reason, asked, state } = play({ answers: (round) => answerOf([call('weather', `c${round}`, { round })]) });
    expect([reason, asked.length, state.pressedBy]).toEqual(['max-rounds', 6, 'max-rounds']);
    expect(asked.at(-1)?.toolChoice).toEqual({ kind: 'none' });
    expect(textsOf(asked.at(-1))).toContain('The rounds of this answer are used up');
    expect(textsOf(asked.at(-2))).not.toContain('used up');
    expect(JSON.stringify(state.messages)).not.toContain('Answer now with what you have, and say what is missing.","');
  });

  it('is answered by a model that does as it is told', () => {
    const { reason, state } = play({
      answers: (round, { toolChoice }) =>
        answerOf(toolChoice?.kind === 'none' ? [{ type: 'text', text: 'Enough.' }] : [call('weather', `c${round}`, { round })]),
    });
    expect([reason, state.pressedBy, state.rounds]).toEqual(['answered', 'max-rounds', 6]);
  });

  it('runs the same call five times, refuses it then, and ends when it is made again all the same', () => {
    const { reason, ran, results } = play({
      bounds: { followUps: 50 },
      answers: () => answerOf([call('weather', 'same', { city: 'Oslo' })]),
    });
    expect([reason, ran.length]).toEqual(['repeated', 5]);
    expect(results.slice(5).map(({ status }) => status)).toEqual(['refused', 'refused']);
    expect(results[5]?.text).toContain('it was made 5 times already');
  });

  it('does not take the order of arguments for another call', () => {
    const turned = (round: number) => (round % 2 === 0 ? { city: 'Oslo', days: 1 } : { days: 1, city: 'Oslo' });
    const { reason, ran } = play({
      bounds: { followUps: 50 },
      answers: (round) => answerOf([call('weather', `c${round}`, turned(round))]),
    });
    expect([reason, ran.length]).toEqual(['repeated', 5]);
  });

  it('ends after failures, one after the other, with a word before', () => {
    const { reason, ran, asked } = play({
      bounds: { followUps: 50, repeats: 3 },
      answers: (round) => answerOf([call('weather', `c${round}`, { round })]),
      outcome: () => ({ status: 'error', text: 'no' }),
    });
    expect([reason, ran.length]).toEqual(['failing', 3]);
    expect(textsOf(asked.at(-1))).toContain('The last 3 calls failed');
  });

  it('runs no more calls of one answer than the bound, and says so of the rest', () => {
    const parts = Array.from({ length: 500 }, (_, index) => call('weather', `c${index}`, { index }));
    const { results, ran } = play({ answers: (round) => answerOf(round === 1 ? parts : []) });
    expect([ran.length, results.length]).toEqual([32, 500]);
    expect(results.at(-1)).toMatchObject({ callId: 'c499', status: 'refused' });
  });

  it('answers broken arguments and unknown names in the place of the tool, with near names', () => {
    const broken: ToolCallPart = { ...call('weather', 'b1'), arguments: readToolArguments('{"city": ', { isCut: true }) };
    const { results, ran, reason } = play({
      answers: (round) => answerOf(round === 1 ? [broken, call('wether', 'u1'), call('__proto__', 'u2')] : []),
    });
    expect([ran, reason]).toEqual([[], 'answered']);
    expect(results[0]?.text).toContain('call the tool again');
    expect(results[1]?.text).toContain('There is no tool "wether". Did you mean "weather"?');
    expect(results[2]?.text).toContain('There is no tool "__proto__".');
  });

  it('counts the rounds anew after the success of a deep tool, as often as it may', () => {
    const rounds = (renewals: number, status: 'success' | 'error') =>
      play({
        bounds: { followUps: 3, renewals, repeats: 100 },
        answers: (round) => answerOf([call('digs', `c${round}`, { round })]),
        outcome: () => ({ status, text: '' }),
      }).state.rounds;
    expect([rounds(0, 'success'), rounds(2, 'success'), rounds(2, 'error')]).toEqual([4, 6, 4]);
  });

  it('asks again after a pause, and for what is said in between', () => {
    const said: Message = { role: 'user', parts: [{ type: 'text', text: 'In Celsius.' }] };
    const { asked, reason } = play({
      answers: (round) => answerOf([{ type: 'text', text: 'So.' }], round === 1 ? { stop: { kind: 'pause' } } : {}),
      steer: (round) => (round === 2 ? [said] : []),
    });
    expect([reason, asked.length]).toEqual(['answered', 3]);
    expect(asked.at(-1)?.messages.at(-1)).toEqual(said);
  });

  it('lets a model that had to call a tool come to an end', () => {
    const forced = { ...conversation, toolChoice: { kind: 'required' } as const };
    const called = applyStep(freshState, { type: 'answer', answer: answerOf([call('weather', 'c1')]), leftMs: 1 }, 0);
    const request = { conversation: forced, bounds: wide };
    expect([
      buildRequest(request, freshState, undefined).toolChoice,
      buildRequest(request, called, undefined).toolChoice,
    ]).toEqual([{ kind: 'required' }, { kind: 'auto' }]);
  });

  it('stops before it asks when time, tokens or money are used up, and has the calls answered first when it is cancelled', () => {
    const usage = { inputTokens: 60, outputTokens: 50 };
    const answers = (round: number) => answerOf([call('weather', `c${round}`, { round })], { usage });
    expect(play({ answers, leftMs: (rounds) => 2 - rounds }).reason).toBe('deadline');
    expect(play({ answers, bounds: { maxTokens: 200 } })).toMatchObject({ reason: 'tokens', state: { rounds: 2 } });
    const cancelled = play({ answers, isCancelled: (rounds) => rounds === 2 });
    expect([cancelled.reason, cancelled.ran]).toEqual(['cancelled', ['c1']]);
    expect(cancelled.results.at(-1)).toMatchObject({ callId: 'c2', status: 'refused' });
    expect(findBreaches(cancelled.state.messages)).toEqual([]);
  });

  it('is cancelled, or over its time, where that cut an answer off; one that had its end is answered', () => {
    const text = [{ type: 'text', text: 'So f' }] as const;
    const cut = () => answerOf(text, { stop: { kind: 'interrupted' } });
    expect(play({ answers: cut, isCancelled: (rounds) => rounds === 1 }).reason).toBe('cancelled');
    expect(play({ answers: cut, leftMs: (rounds) => 1 - rounds }).reason).toBe('deadline');
    expect(play({ answers: () => answerOf(text), isCancelled: (rounds) => rounds === 1 }).reason).toBe('answered');
  });

  it('asks for no more tokens than are left', () => {
    const usage = { inputTokens: 60, outputTokens: 50 };
    const { asked } = play({
      bounds: { maxTokens: 200 },
      answers: (round) => answerOf([call('weather', `c${round}`)], { usage }),
    });
    expect(asked.map(({ maxTokens }) => maxTokens)).toEqual([200, 90]);
  });

  it('ends with what the model failed of, and runs nothing of such an answer', () => {
    const failure = { kind: 'overloaded', status: 529, message: 'busy' } as const;
    const { reason, ran, state } = play({ answers: () => answerOf([call('weather', 'c1')], { failure }) });
    expect([reason, ran, state.messages]).toEqual(['model-failed', [], []]);
  });
});

describe('fitResults', () => {
  it('cuts what is too long, at a whole letter, and says what is left out', () => {
    const result = { callId: 'c', name: 'n', status: 'success' as const, text: 'é'.repeat(10) };
    expect(fitResults([result], 0, { ...wide, maxResultBytes: 5 })[0]?.text).toBe(
      'éé\n[cut: the result has 20 bytes; 5 are shown.]',
    );
    expect(fitResults([result, result], 9_985, wide)[1]?.text).toBe('[the result has 20 bytes; 0 are shown.]');
  });
});

/** Whatever models are known to do, and worse. */
const anyName = fc.constantFrom('weather', 'digs', 'Read', 'bash', 'wether', '__proto__', 'constructor', '');
const anyArguments = fc.oneof(
  fc.record({ city: fc.constantFrom('Oslo', 'Rome') }).map((value) => argumentsOf(value)),
  fc.string({ maxLength: 20 }).map((text) => readToolArguments(text, { isCut: true })),
);
const anyCall = fc
  .record({ name: anyName, id: fc.constantFrom('', 'call_0', 'call_1', 'w'), given: anyArguments })
  .map(({ name, id, given }): ToolCallPart => ({ type: 'tool-call', id, name, arguments: given }));
const anyParts = fc.array(fc.oneof(anyCall, fc.constant<Part>({ type: 'text', text: 'hm' })), { maxLength: 12 });
const anyStop = fc.constantFrom('end', 'tool-calls', 'pause', 'max-tokens', 'refusal', 'other' as const);
const anyRounds = fc.array(fc.record({ parts: anyParts, kind: anyStop }), { minLength: 1, maxLength: 40 });
const anyBounds = fc.record({
  repeats: fc.integer({ min: 1, max: 4 }),
  followUps: fc.integer({ min: 0, max: 6 }),
  renewals: fc.integer({ min: 0, max: 2 }),
  maxCallsPerTurn: fc.integer({ min: 1, max: 4 }),
  maxResultBytes: fc.integer({ min: 1, max: 50 }),
  maxBytes: fc.integer({ min: 1, max: 200 }),
});

describe('a loop, whatever the model says', () => {
  it('keeps its bounds, answers every call of its own once and in order, and leaves a sound conversation', () => {
    fc.assert(
      fc.property(
        anyRounds,
        anyBounds,
        fc.infiniteStream(fc.constantFrom('success', 'error', 'timeout')),
        (rounds, bounds, fates) => {
          const { asked, results, ran, state, request } = play({
            bounds,
            answers: (round) => {
              const { parts, kind } = rounds[(round - 1) % rounds.length] ?? { parts: [], kind: 'end' };
              return answerOf(parts, { stop: { kind } });
            },
            outcome: () => ({ status: fates.next().value ?? 'success', text: 'x'.repeat(60) }),
          });
          expect(asked.length).toBeLessThanOrEqual((1 + bounds.followUps) * (1 + bounds.renewals));
          expect(ran.length).toBeLessThanOrEqual(asked.length * bounds.maxCallsPerTurn);
          expect(new Set(ran).size).toBe(ran.length);
          const shown = results
            .filter(({ status }) => status !== 'refused')
            .map(({ text }) => text.replace(/\n?\[(cut: )?the result.*/, ''));
          for (const text of shown) expect(text.length).toBeLessThanOrEqual(bounds.maxResultBytes);
          expect(shown.join('').length).toBeLessThanOrEqual(bounds.maxBytes);
          const isClients = clientNamesOf(request);
          const own = state.messages.flatMap(({ parts }) =>
            parts.flatMap((part) => (part.type === 'tool-call' && !isClients(part.name) ? [part.id] : [])),
          );
          expect(results.map(({ callId }) => callId)).toEqual(own);
          const theirs = new Set(callsOf(state.answer).flatMap(({ name, id }) => (isClients(name) ? [id] : [])));
          const breaches = findBreaches(state.messages).filter(({ callId = '' }) => !theirs.has(callId));
          expect(breaches).toEqual([]);
          for (const { messages } of asked) {
            expect(findBreaches(messages)).toEqual([]);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
