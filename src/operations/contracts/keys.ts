import { Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const role = Type.Union([Type.Literal('admin'), Type.Literal('caller')]);

const keyView = Type.Object({
  id: Type.String({ description: 'Also the caller id of whoever uses the key.' }),
  name: Type.String(),
  role,
  createdAtMs: Type.Number(),
  lastUsedAtMs: Type.Optional(Type.Number()),
  revokedAtMs: Type.Optional(Type.Number()),
});

/** What can be done with API keys. */
export const keyContracts = {
  create: defineContract({
    name: 'keys.create',
    summary: 'Makes an API key; the answer is the only time that it is shown.',
    role: 'admin',
    input: Type.Object(
      {
        name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f]*$' })),
        role: Type.Optional(role),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({ id: Type.String(), name: Type.String(), role, key: Type.String(), createdAtMs: Type.Number() }),
    http: { method: 'POST', path: '/api/keys' },
  }),
  list: defineContract({
    name: 'keys.list',
    summary: 'Lists the API keys, without their secrets.',
    role: 'admin',
    input: Type.Object({}, { additionalProperties: false }),
    output: listOf(keyView),
    http: { method: 'GET', path: '/api/keys' },
  }),
  revoke: defineContract({
    name: 'keys.revoke',
    summary: 'Revokes an API key at once.',
    role: 'admin',
    input: Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) }, { additionalProperties: false }),
    output: Type.Object({ id: Type.String(), revoked: Type.Boolean() }),
    http: { method: 'DELETE', path: '/api/keys/:id' },
  }),
};
