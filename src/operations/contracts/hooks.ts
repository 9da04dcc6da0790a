import { type Static, Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const name = Type.String({ minLength: 1, maxLength: 130, description: 'NAME, or SKILL/NAME for a hook of a skill.' });
const hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The contentHash of the files as they were shown.' });

const hookView = Type.Object({
  name: Type.String(),
  origin: Type.Enum(['data', 'skill']),
  state: Type.Enum(['new', 'changed', 'invalid', 'failed', 'active']),
  problem: Type.Optional(Type.String({ description: 'Why it is invalid or failed.' })),
  title: Type.Optional(Type.String()),
  description: Type.String(),
  events: Type.Array(Type.String()),
  waitsFor: Type.Array(Type.String(), { description: 'Those of its events that this daemon does not have yet.' }),
  tools: Type.Array(Type.String(), { description: 'The calls that it hears of; all when empty.' }),
  engine: Type.Optional(Type.String()),
  image: Type.Optional(Type.String()),
  permissions: Type.String({ description: 'What is granted with the approval, as words of a command.' }),
  timeoutMs: Type.Optional(Type.Integer()),
  files: Type.Array(Type.Object({ path: Type.String(), bytes: Type.Integer() })),
  contentHash: Type.String(),
  approval: Type.Optional(Type.Object({ contentHash: Type.String(), by: Type.String(), atMs: Type.Number() })),
});

/** A hook as doors send it. */
export type HookItem = Static<typeof hookView>;

/** What can be done with hooks. */
export const hookContracts = {
  list: defineContract({
    name: 'hooks.list',
    summary: 'Lists the hooks of the data folder and of skills, after a look at their files; isOn says whether any may run.',
    role: 'admin',
    input: {},
    output: Type.Object({ ...listOf(hookView).properties, isOn: Type.Boolean() }),
    http: { method: 'GET', path: '/api/hooks' },
  }),
  get: defineContract({
    name: 'hooks.get',
    summary: 'Tells of one hook, after a look at its files.',
    role: 'admin',
    input: { name },
    output: hookView,
    http: { method: 'GET', path: '/api/hooks/:name' },
  }),
  approve: defineContract({
    name: 'hooks.approve',
    summary: 'Lets a hook run with exactly these files, and grants what its HOOK.md asks for; any change of a file ends it.',
    role: 'admin',
    isForPeople: true,
    input: { name, contentHash: hash },
    output: hookView,
    http: { method: 'POST', path: '/api/hooks/:name/approve' },
  }),
  revoke: defineContract({
    name: 'hooks.revoke',
    summary: 'Takes the approval of a hook back: it does not run any more, and what it was granted ends at once.',
    role: 'admin',
    isForPeople: true,
    input: { name },
    output: Type.Object({ name: Type.String(), revoked: Type.Boolean() }),
    http: { method: 'POST', path: '/api/hooks/:name/revoke' },
  }),
};
