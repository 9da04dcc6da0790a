import { Type } from 'typebox';
import type { CallAnswer, Execution, ExecutionError } from '../../calls/call-types.ts';
import type { ReplayReport } from '../../replay/replay-types.ts';
import { defineContract } from '../operation.ts';
import { schemaOf } from '../schema-of.ts';
import { listOf, pageQuery } from './paging.ts';

/** The states of an execution. */
export const executionStatus = Type.Enum(['pending', 'running', 'success', 'error', 'timeout', 'cancelled']);

/** Why an execution failed. */
export const executionError = schemaOf<ExecutionError>()(
  Type.Object({
    code: Type.String(),
    message: Type.String(),
    name: Type.Optional(Type.String()),
    frames: Type.Optional(Type.Array(Type.Object({ file: Type.String(), line: Type.Number(), column: Type.Number() }))),
    codeFrame: Type.Optional(Type.String()),
    refused: Type.Optional(
      Type.Array(Type.String(), { description: 'Permissions that the call was refused, such as net=api.example.com.' }),
    ),
    fix: Type.String(),
  }),
);

/** What went wrong in a call without ending it. */
export const callWarnings = Type.Array(Type.String(), { description: 'What went wrong without ending it, in whole sentences.' });

/** What every answer of a call has, beside its output. */
export const callAnswerProperties = {
  executionId: Type.String(),
  status: executionStatus,
  error: Type.Optional(executionError),
  durationMs: Type.Number(),
  warnings: Type.Optional(callWarnings),
  replayed: Type.Optional(Type.Boolean()),
  climbed: Type.Optional(
    Type.Object(
      { from: Type.String(), to: Type.String(), reason: Type.String() },
      { description: 'It was run again on a higher engine.' },
    ),
  ),
};

/** The answer of a call. */
export const callAnswer = schemaOf<CallAnswer>()(Type.Object({ ...callAnswerProperties, output: Type.Optional(Type.Unknown()) }));

const execution = schemaOf<Execution>()(
  Type.Object({
    id: Type.String(),
    tool: Type.String(),
    version: Type.String(),
    plugin: Type.String(),
    generation: Type.String(),
    caller: Type.String(),
    session: Type.String(),
    status: executionStatus,
    arguments: Type.Unknown(),
    output: Type.Optional(Type.Unknown()),
    error: Type.Optional(executionError),
    createdAtMs: Type.Number(),
    startedAtMs: Type.Optional(Type.Number()),
    endedAtMs: Type.Optional(Type.Number()),
    durationMs: Type.Optional(Type.Number()),
    attempts: Type.Integer(),
    idempotencyKey: Type.Optional(Type.String()),
    parent: Type.Optional(Type.String({ description: 'The execution that made this call through context.tools.call.' })),
    engine: Type.Optional(Type.String({ description: 'What ran it; of several attempts the last.' })),
    cut: Type.Optional(
      Type.Object(
        { arguments: Type.Optional(Type.Integer()), output: Type.Optional(Type.Integer()) },
        { description: 'Of these values the record has the beginning alone, as text; and how many bytes each of them had.' },
      ),
    ),
    warnings: Type.Optional(callWarnings),
    logs: Type.Optional(Type.Array(Type.Object({ level: Type.String(), text: Type.String(), atMs: Type.Number() }))),
  }),
);

const replayEnd = Type.Object({
  status: Type.Enum(['success', 'error', 'timeout', 'cancelled']),
  output: Type.Optional(Type.Unknown()),
  error: Type.Optional(executionError),
});

const replayReport = schemaOf<ReplayReport>()(
  Type.Object({
    executionId: Type.String(),
    tool: Type.String(),
    contentHash: Type.String({ description: 'Of the code that it ran on.' }),
    isSameCode: Type.Boolean({ description: 'It ran on the code that was recorded.' }),
    engine: Type.String(),
    same: Type.Boolean({ description: 'It ended as recorded: with the same output, or the same error.' }),
    difference: Type.Optional(Type.String()),
    recorded: replayEnd,
    now: replayEnd,
    asked: Type.Array(Type.String(), { description: 'What it asked the host otherwise than was recorded.' }),
    notes: Type.Array(Type.String(), { description: "Why a difference may not be the code's." }),
    logs: Type.Array(Type.Object({ level: Type.String(), text: Type.String(), atMs: Type.Number() })),
    durationMs: Type.Number(),
  }),
);

const identified = { id: Type.String({ minLength: 1, maxLength: 128 }) };

/** What can be done with the records of calls; a caller sees its own, an admin all. */
export const executionContracts = {
  list: defineContract({
    name: 'executions.list',
    summary: 'Lists executions, newest first.',
    role: 'caller',
    input: {
      tool: Type.Optional(Type.String({ maxLength: 256 })),
      status: Type.Optional(executionStatus),
      caller: Type.Optional(Type.String({ maxLength: 128 })),
      parent: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      ...pageQuery,
    },
    output: listOf(execution),
    http: { method: 'GET', path: '/api/executions' },
  }),
  get: defineContract({
    name: 'executions.get',
    summary:
      'Shows one execution, with the last lines that it logged while its recording is kept; waits for its end if asked to.',
    role: 'caller',
    input: {
      id: Type.String({ minLength: 1, maxLength: 128 }),
      waitMs: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 60_000, description: 'Answers when it has ended, at the latest after so long.' }),
      ),
    },
    output: execution,
    http: { method: 'GET', path: '/api/executions/:id' },
  }),
  follow: defineContract({
    name: 'executions.follow',
    summary: 'Waits for the end of one execution and answers with it; as a stream it tells what happens until then.',
    role: 'caller',
    input: {
      id: Type.String({ minLength: 1, maxLength: 128 }),
      waitMs: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 3_600_000,
          description: 'Answers at the latest after so long; an hour when nothing is said.',
        }),
      ),
    },
    output: execution,
    streams: true,
    http: { method: 'GET', path: '/api/executions/:id/follow' },
  }),
  cancel: defineContract({
    name: 'executions.cancel',
    summary: 'Cancels a pending or running execution; cancelled is false when it had ended.',
    role: 'caller',
    input: identified,
    output: Type.Object({ id: Type.String(), cancelled: Type.Boolean() }),
    http: { method: 'POST', path: '/api/executions/:id/cancel' },
  }),
  replay: defineContract({
    name: 'executions.replay',
    summary: 'Runs an execution again with its recorded host answers, time and chance; nothing is carried out or recorded.',
    role: 'caller',
    input: {
      id: Type.String({ minLength: 1, maxLength: 128 }),
      generation: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description:
            'A kept generation by its number or the beginning of its content hash; what serves now when absent. For admins.',
        }),
      ),
      text: Type.Optional(Type.String({ description: 'A text to run it on, as the entry of the plugin. For admins.' })),
    },
    output: replayReport,
    http: { method: 'POST', path: '/api/executions/:id/replay' },
  }),
};
