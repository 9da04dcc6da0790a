import { type Static, Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const mcpClientView = Type.Object({
  client: Type.String({ description: 'What the client calls itself: it may say anything.' }),
  era: Type.Enum(['2025-11-25', '2026-07-28'], { description: 'With sessions, and without.' }),
  caller: Type.String({ description: 'The caller id of its key.' }),
  listening: Type.Boolean({ description: 'It hears of changes as they happen.' }),
  usedAtMs: Type.Number({ description: 'When it last asked for something.' }),
  toldAtMs: Type.Optional(Type.Number({ description: 'When it was last told that its lists are old.' })),
});

/** An MCP client as every door shows it. */
export type McpClientView = Static<typeof mcpClientView>;

/** What can be done with MCP clients of this daemon. */
export const mcpClientContracts = {
  list: defineContract({
    name: 'mcp.clients',
    summary: 'Lists the MCP clients of the last hour, the latest first.',
    role: 'admin',
    input: {},
    output: listOf(mcpClientView),
    http: { method: 'GET', path: '/api/mcp/clients' },
  }),
};
