import { type Static, Type } from 'typebox';
import { attemptSchema, failureSchema, maxDescriptionBytes, proposalSchema, repairStates } from '../../repair/repair.ts';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const repairId = Type.String({ minLength: 1, maxLength: 64, description: 'The id of a repair, such as rep_…' });
const one = { id: repairId };

const source = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'The OpenAPI description of an API: its address, or a .json or .yaml file in a folder of plugins.',
  }),
);
const text = Type.Optional(
  Type.String({ maxLength: maxDescriptionBytes, description: 'The description itself, in place of what `source` says.' }),
);

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
    input: {
      plugin: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
      state: Type.Optional(Type.Enum([...repairStates])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    },
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
    input: {
      plugin: Type.String({ minLength: 1, maxLength: 512 }),
      person: Type.Optional(
        Type.Boolean({ description: 'A person asks, with the token of the operator: what was tried in vain is tried again.' }),
      ),
    },
    output: repairView,
    http: { method: 'POST', path: '/api/repairs' },
  }),
  create: defineContract({
    name: 'repairs.create',
    summary:
      'Writes a new plugin, from code, from the OpenAPI description of an API or by the model of repair.model, tries it and keeps it as a proposal.',
    role: 'admin',
    input: {
      name: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,47}$' }),
      description: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 2000,
          description: 'What a model is to write; needed without `source` and `text`.',
        }),
      ),
      code: Type.Optional(Type.String({ maxLength: 40_000, description: 'A module, or the body of its handler.' })),
      source,
      text,
      operations: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
          maxItems: 64,
          description: 'Of the operations of the API these, by operationId or as `GET /pets`.',
        }),
      ),
      server: Type.Optional(
        Type.String({ maxLength: 2000, description: 'Where the API is, in place of what its description says.' }),
      ),
    },
    output: repairView,
    http: { method: 'POST', path: '/api/repairs/create' },
  }),
  refresh: defineContract({
    name: 'repairs.refresh',
    summary: 'Proposes what changed of the description of an API from which a plugin was made.',
    role: 'admin',
    input: { plugin: Type.String({ minLength: 1, maxLength: 512 }), source, text },
    output: Type.Object({
      isChanged: Type.Boolean({ description: 'False: the description says what the plugin says, and nothing is proposed.' }),
      repair: Type.Optional(repairView),
    }),
    http: { method: 'POST', path: '/api/repairs/refresh' },
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
    input: { id: repairId, reason: Type.Optional(Type.String({ maxLength: 1000 })) },
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
