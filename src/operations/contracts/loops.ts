import { Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const loopEnd = Type.Object({
  reason: Type.String({
    description: 'Such as answered, client-calls, max-rounds, repeated, deadline, cancelled, model-failed.',
  }),
  pressedBy: Type.Optional(Type.String({ description: 'The limit at which the model was told to come to an end.' })),
  text: Type.String({ description: 'The text of the last answer.' }),
  messages: Type.Array(Type.Unknown(), { description: 'What came after the messages of the request.' }),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String(), fix: Type.String() })),
});

const loopView = Type.Object({
  id: Type.String(),
  caller: Type.String(),
  purpose: Type.String({ description: 'gateway, chat, repair or plugin.' }),
  model: Type.String(),
  state: Type.Enum(['running', 'ended']),
  rounds: Type.Integer({ description: 'Answers of the model.' }),
  calls: Type.Array(
    Type.Object({
      callId: Type.String(),
      name: Type.String(),
      executionId: Type.Optional(Type.String()),
      approval: Type.Optional(Type.String({ description: 'What a person is asked.' })),
    }),
    { description: 'What runs now.' },
  ),
  tokens: Type.Integer({ description: 'Of all answers, and of what they were asked with.' }),
  cost: Type.Optional(Type.Number({ description: 'US dollars, where prices are known.' })),
  startedAtMs: Type.Number(),
  endedAtMs: Type.Optional(Type.Number()),
  end: Type.Optional(loopEnd),
});

const id = Type.String({ minLength: 1, maxLength: 128 });
const identified = { id };

/** What can be done with loops of models and tools; a caller sees its own, an admin all. */
export const loopContracts = {
  list: defineContract({
    name: 'loops.list',
    summary: 'Lists the loops of models that run, and those of the last day that called a tool; newest first.',
    role: 'caller',
    input: {},
    output: listOf(Type.Omit(loopView, ['end'])),
    http: { method: 'GET', path: '/api/loops' },
  }),
  get: defineContract({
    name: 'loops.get',
    summary: 'Shows one loop: what it does now, or how it ended.',
    role: 'caller',
    input: identified,
    output: loopView,
    http: { method: 'GET', path: '/api/loops/:id' },
  }),
  follow: defineContract({
    name: 'loops.follow',
    summary: 'Waits for the end of one loop and answers with it; as a stream it tells what happens until then.',
    role: 'caller',
    input: identified,
    output: loopView,
    streams: true,
    http: { method: 'GET', path: '/api/loops/:id/follow' },
  }),
  cancel: defineContract({
    name: 'loops.cancel',
    summary: 'Cancels a loop, and the calls that it waits for; cancelled is false when it had ended.',
    role: 'caller',
    input: identified,
    output: Type.Object({ id: Type.String(), cancelled: Type.Boolean() }),
    http: { method: 'POST', path: '/api/loops/:id/cancel' },
  }),
  steer: defineContract({
    name: 'loops.steer',
    summary: 'Says something to the model of a loop that runs: it reads it with the next round.',
    role: 'caller',
    input: { id, text: Type.String({ minLength: 1, maxLength: 100_000 }) },
    output: Type.Object({ id: Type.String() }),
    http: { method: 'POST', path: '/api/loops/:id/steer' },
  }),
};
