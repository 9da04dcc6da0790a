import { Type } from 'typebox';
import { execution, executionStatus } from '../../calls/call-types.ts';
import { replayReport } from '../../replay/replay-types.ts';
import { defineContract } from '../operation.ts';
import { listOf, pageQuery } from './paging.ts';

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
