import { Type } from 'typebox';
import { defineContract } from '../../operation.ts';
import { listOf } from '../paging.ts';

const name = Type.String({ minLength: 1, maxLength: 128, description: 'As in permissions.env, such as WEATHER_KEY.' });
const place = Type.String({ minLength: 1, maxLength: 256 });
const binding = {
  hosts: Type.Array(Type.String({ minLength: 1, maxLength: 260 }), {
    minItems: 1,
    maxItems: 32,
    description: 'Hosts it may go to, as in permissions.net.',
  }),
  header: Type.Optional(place),
  query: Type.Optional(place),
};

const secretView = Type.Object({
  name: Type.String(),
  hosts: Type.Array(Type.String()),
  header: Type.Optional(Type.String()),
  query: Type.Optional(Type.String()),
  origin: Type.Enum(['config', 'store']),
  problem: Type.Optional(Type.String({ description: 'Why it cannot be used.' })),
  updatedAtMs: Type.Optional(Type.Number()),
});

/** What can be done with secrets; no answer holds a value. */
export const secretContracts = {
  list: defineContract({
    name: 'secrets.list',
    summary: 'Lists the secrets and where they may go, without their values.',
    role: 'admin',
    input: {},
    output: listOf(secretView),
    http: { method: 'GET', path: '/api/secrets' },
  }),
  set: defineContract({
    name: 'secrets.set',
    summary: 'Keeps a secret, or a new value or binding of it: one header or query parameter of requests to the named hosts.',
    role: 'admin',
    isForPeople: true,
    input: { name, value: Type.String({ minLength: 1, maxLength: 8192 }), ...binding },
    output: secretView,
    http: { method: 'PUT', path: '/api/secrets/:name' },
  }),
  remove: defineContract({
    name: 'secrets.remove',
    summary: 'Removes a secret at once, also for calls under way.',
    role: 'admin',
    isForPeople: true,
    input: { name },
    output: Type.Object({ name: Type.String(), removed: Type.Boolean() }),
    http: { method: 'DELETE', path: '/api/secrets/:name' },
  }),
};
