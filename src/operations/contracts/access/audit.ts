import { type Static, Type } from 'typebox';
import { defineContract } from '../../operation.ts';
import { listOf, pageQuery } from '../paging.ts';

const auditEntry = Type.Object({
  id: Type.Integer(),
  at: Type.Number({ description: 'Epoch ms.' }),
  execution: Type.Optional(Type.String()),
  caller: Type.String({ description: 'Who called; for a decision, who decided.' }),
  plugin: Type.Optional(Type.String()),
  tool: Type.Optional(Type.String()),
  permission: Type.String({ description: 'A key such as net, or what was decided: grant, approval, secret.' }),
  detail: Type.String(),
  allowed: Type.Boolean(),
});

/** One line of the audit, as every door shows it. */
export type AuditEntry = Static<typeof auditEntry>;

/** What can be read of the audit. */
export const auditContracts = {
  list: defineContract({
    name: 'audit.list',
    summary: 'Lists uses and refusals of permissions and who decided about them, newest first; a caller sees its own.',
    role: 'caller',
    input: {
      plugin: Type.Optional(Type.String({ maxLength: 512, description: 'The name of a plugin.' })),
      caller: Type.Optional(Type.String({ maxLength: 128 })),
      tool: Type.Optional(Type.String({ maxLength: 256 })),
      execution: Type.Optional(Type.String({ maxLength: 128 })),
      allowed: Type.Optional(Type.Boolean({ description: 'false for refusals alone.' })),
      ...pageQuery,
    },
    output: listOf(auditEntry),
    http: { method: 'GET', path: '/api/audit' },
  }),
};
