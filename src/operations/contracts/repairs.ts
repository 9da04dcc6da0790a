import { type Static, Type } from 'typebox';
import { attemptSchema, failureSchema, proposalSchema, repairStates } from '../../repair/repair.ts';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const repairId = Type.String({ minLength: 1, maxLength: 64, description: 'The id of a repair, such as rep_…' });
const one = Type.Object({ id: repairId }, { additionalProperties: false });

const repairSummary = {
  id: Type.String(),
  plugin: Type.String(),
  path: Type.String(),
  class: Type.String({ description: 'The class of the failure; `creation` for a plugin that is new.' }),
  state: Type.Enum([...repairStates]),
  reason: Type.String({ description: 'Why it stands there, and what a person can do.' }),
  failure: failureSchema,
  author: Type.Optional(Type.String({ description: 'repair for a fixer, model for a model' })),
  generation: Type.Optional(Type.String()),
  contentHash: Type.String({ description: 'Of the content in which the failure was diagnosed.' }),
  tried: Type.Integer({ description: 'How many changes were tried.' }),
  tokens: Type.Integer(),
  cost: Type.Number(),
  startedAtMs: Type.Number(),
  endedAtMs: Type.Optional(Type.Number()),
};

const repairView = Type.Object({
  ...repairSummary,
  attempts: Type.Array(attemptSchema),
  proposal: Type.Optional(proposalSchema),
});

/** A repair as doors send it. */
export type RepairItem = Static<typeof repairView>;

/** What can be done with repairs. A model may ask for one and read of it; what becomes of a proposal people decide. */
export const repairContracts = {
  list: defineContract({
    name: 'repairs.list',
    summary: 'Lists the repairs, newest first: what failed, what was tried, what became of it.',
    role: 'admin',
    input: Type.Object(
      {
        plugin: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
        state: Type.Optional(Type.Enum([...repairStates])),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      },
      { additionalProperties: false },
    ),
    output: listOf(Type.Object(repairSummary)),
    http: { method: 'GET', path: '/api/repairs' },
  }),
  get: defineContract({
    name: 'repairs.get',
    summary: 'Shows one repair with the difference that it proposes or published, and every attempt with its trial.',
    role: 'admin',
    input: one,
    output: repairView,
    http: { method: 'GET', path: '/api/repairs/:id' },
  }),
  start: defineContract({
    name: 'repairs.start',
    summary:
      'Repairs a failed plugin now, and answers when that is over; refused with the reason where there is nothing to repair.',
    role: 'admin',
    input: Type.Object(
      {
        plugin: Type.String({ minLength: 1, maxLength: 512 }),
        person: Type.Optional(
          Type.Boolean({ description: 'A person asks, with the token of the operator: what was tried in vain is tried again.' }),
        ),
      },
      { additionalProperties: false },
    ),
    output: repairView,
    http: { method: 'POST', path: '/api/repairs' },
  }),
  create: defineContract({
    name: 'repairs.create',
    summary: 'Writes a new plugin, from code or by the model of repair.model, tries it and keeps it as a proposal.',
    role: 'admin',
    input: Type.Object(
      {
        name: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,47}$' }),
        description: Type.String({ minLength: 1, maxLength: 2000 }),
        code: Type.Optional(Type.String({ maxLength: 40_000, description: 'A module, or the body of its handler.' })),
      },
      { additionalProperties: false },
    ),
    output: repairView,
    http: { method: 'POST', path: '/api/repairs/create' },
  }),
  apply: defineContract({
    name: 'repairs.apply',
    summary: 'Writes what a repair proposes or published into the files, while they are still those that were diagnosed.',
    role: 'admin',
    isForPeople: true,
    input: one,
    output: repairView,
    http: { method: 'POST', path: '/api/repairs/:id/apply' },
  }),
  reject: defineContract({
    name: 'repairs.reject',
    summary: 'Turns a proposal down; the same content is not repaired again by itself.',
    role: 'admin',
    isForPeople: true,
    input: Type.Object(
      { id: repairId, reason: Type.Optional(Type.String({ maxLength: 1000 })) },
      { additionalProperties: false },
    ),
    output: repairView,
    http: { method: 'POST', path: '/api/repairs/:id/reject' },
  }),
  rollback: defineContract({
    name: 'repairs.rollback',
    summary: 'Takes a repair back: its generation, and its text in the files; a later edit of a person is never discarded.',
    role: 'admin',
    isForPeople: true,
    input: one,
    output: repairView,
    http: { method: 'POST', path: '/api/repairs/:id/rollback' },
  }),
};
