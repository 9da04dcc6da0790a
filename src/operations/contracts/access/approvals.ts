import { type Static, Type } from 'typebox';
import { defineContract } from '../../operation.ts';
import { listOf } from '../paging.ts';

const statuses = ['open', 'approved', 'denied', 'expired', 'withdrawn'] as const;
const status = Type.Enum(statuses);
const id = Type.String({ minLength: 1, maxLength: 128 });

const approvalView = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['grant', 'call', 'confirm', 'hook', 'mcp', 'ask']),
  status,
  plugin: Type.String(),
  tool: Type.Optional(Type.String()),
  executionId: Type.Optional(Type.String()),
  caller: Type.Optional(Type.String({ description: 'Who caused it.' })),
  session: Type.Optional(Type.String()),
  reason: Type.Enum(['permissions', 'dangerous', 'hybrid', 'confirm', 'hook', 'mcp', 'ask']),
  question: Type.String(),
  saidBy: Type.Enum(['plugin', 'hotcell'], {
    description: 'Whose words the question is: those of a plugin may say anything.',
  }),
  argumentsHash: Type.String({ description: 'SHA-256 of what the answer binds.' }),
  details: Type.Record(Type.String(), Type.Unknown(), { description: 'What a person needs to judge.' }),
  cut: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      description: 'Details of which only the beginning is shown, and how many characters they have; approvals.get shows all.',
    }),
  ),
  shownHash: Type.Optional(
    Type.String({
      description: 'SHA-256 of all that is shown; there unless something is cut. An approval of long details names it.',
    }),
  ),
  mayAnswer: Type.Enum(['yes', 'person', 'no'], {
    description: 'Whether you may answer; `person`: only with person: true.',
  }),
  createdAtMs: Type.Number(),
  expiresAtMs: Type.Number(),
  answeredAtMs: Type.Optional(Type.Number()),
  answeredBy: Type.Optional(Type.String()),
  content: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'What a question of kind ask was answered with, until its call is over; not in lists.',
    }),
  ),
});

/** A question as every door shows it. */
export type ApprovalView = Static<typeof approvalView>;

/** What can be done with questions to people. */
export const approvalContracts = {
  list: defineContract({
    name: 'approvals.list',
    summary: 'Lists questions that wait for a person, newest first; a caller sees those that it caused.',
    role: 'caller',
    input: {
      status: Type.Optional(Type.Enum([...statuses, 'all'], { description: 'The open ones when nothing is said.' })),
      executionId: Type.Optional(
        Type.String({ minLength: 1, maxLength: 128, description: 'Only those that this execution asked.' }),
      ),
      about: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 512,
          description: 'Only those of this plugin, tool, MCP server or hook, by its name, or of this file.',
        }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'The newest 100 when nothing is said.' })),
    },
    output: listOf(approvalView),
    http: { method: 'GET', path: '/api/approvals' },
  }),
  get: defineContract({
    name: 'approvals.get',
    summary: 'Shows one question with all that is needed to judge it.',
    role: 'caller',
    input: { id },
    output: approvalView,
    http: { method: 'GET', path: '/api/approvals/:id' },
  }),
  answer: defineContract({
    name: 'approvals.answer',
    summary:
      'Approves or denies a question, once; whoever caused it cannot, unless the operator allowed that key to or it asks for content.',
    role: 'caller',
    isForPeople: true,
    input: {
      id,
      answer: Type.Enum(['approve', 'deny']),
      scope: Type.Optional(
        Type.Enum(['once', 'session', 'until', 'always'], {
          description: 'How long permissions are granted; always when nothing is said.',
        }),
      ),
      session: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
      caller: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Whose session; the own one by default.' })),
      untilMs: Type.Optional(Type.Integer({ minimum: 0 })),
      shownHash: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{64}$',
          description: 'The shownHash of the question as it was read; needed where lists cut it.',
        }),
      ),
      content: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'With the approval of a question of kind ask: what fits its details.schema.',
        }),
      ),
      person: Type.Optional(
        Type.Boolean({ description: "A person gave this answer; counts for the operator's own token alone." }),
      ),
    },
    output: approvalView,
    http: { method: 'POST', path: '/api/approvals/:id' },
  }),
};
