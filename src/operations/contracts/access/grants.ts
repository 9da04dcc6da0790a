import { type Static, Type } from 'typebox';
import { permissionSet } from '../../../plugins/plugin-types.ts';
import { defineContract } from '../../operation.ts';
import { listOf } from '../paging.ts';

const pluginName = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'Name, name@version, or path in its folder; builtin:TOOL; skill:NAME; registered:TOOL.',
});
const name = Type.String({ minLength: 1, maxLength: 256 });
const scope = Type.Enum(['once', 'session', 'until', 'always']);
const status = Type.Enum(['in-force', 'spent', 'ended', 'revoked']);

const grantView = Type.Object({
  id: Type.String(),
  plugin: Type.String(),
  path: Type.String({ description: 'The file or folder that it belongs to; a copy does not have it.' }),
  permissions: permissionSet,
  words: Type.String({ description: 'The permissions as words of a command.' }),
  scope,
  status,
  caller: Type.Optional(Type.String()),
  session: Type.Optional(Type.String()),
  untilMs: Type.Optional(Type.Number()),
  grantedBy: Type.String(),
  createdAtMs: Type.Number(),
  revokedAtMs: Type.Optional(Type.Number()),
});

/** A grant as every door shows it. */
export type GrantView = Static<typeof grantView>;

const outcome = {
  plugin: Type.String(),
  state: Type.String(),
  granted: permissionSet,
  pending: permissionSet,
};

/** What can be done with grants. */
export const grantContracts = {
  list: defineContract({
    name: 'grants.list',
    summary: 'Lists the grants in force, or all that are kept, and what the config grants.',
    role: 'admin',
    input: {
      plugin: Type.Optional(pluginName),
      all: Type.Optional(Type.Boolean({ description: 'Also those that were spent, ended or were revoked; the newest 1000.' })),
    },
    output: listOf(grantView),
    http: { method: 'GET', path: '/api/grants' },
  }),
  standing: defineContract({
    name: 'grants.standing',
    summary: 'Says what a plugin, a built-in or a skill is granted now, and what it asks for beyond that.',
    role: 'admin',
    input: { plugin: pluginName },
    output: Type.Object(outcome),
    http: { method: 'GET', path: '/api/grants/standing' },
  }),
  create: defineContract({
    name: 'grants.create',
    summary: 'Grants permissions to a plugin, or all that it asks for; takes effect on the very next use.',
    role: 'admin',
    isForPeople: true,
    input: {
      plugin: pluginName,
      permissions: Type.Optional(
        Type.Record(Type.String({ maxLength: 32 }), Type.Unknown(), {
          description: 'A permissions block, as plugins write it.',
        }),
      ),
      requested: Type.Optional(Type.Boolean({ description: 'Grants all that is pending.' })),
      scope: Type.Optional(scope),
      session: Type.Optional(name),
      caller: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Whose session; the own one by default.' })),
      untilMs: Type.Optional(Type.Integer({ minimum: 0 })),
    },
    output: Type.Object({ grant: grantView, ...outcome }),
    http: { method: 'POST', path: '/api/grants' },
  }),
  revoke: defineContract({
    name: 'grants.revoke',
    summary: 'Takes back all grants of a plugin, or those that allow what is named; takes effect on the very next use.',
    role: 'admin',
    isForPeople: true,
    input: {
      plugin: pluginName,
      permissions: Type.Optional(
        Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 200, description: 'Words such as net=api.example.com.' }),
      ),
    },
    output: Type.Object({ revoked: Type.Array(grantView), preset: permissionSet, ...outcome }),
    http: { method: 'DELETE', path: '/api/grants' },
  }),
};
