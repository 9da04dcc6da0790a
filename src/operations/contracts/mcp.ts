import { type Static, Type } from 'typebox';
import { serverView } from '../../mcp-servers/server-types.ts';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const name = Type.String({ minLength: 1, maxLength: 64, description: 'The name of the server in mcp.servers.' });
const named = { name };

/** What can be done with MCP servers. */
export const mcpContracts = {
  list: defineContract({
    name: 'mcp.servers',
    summary: 'Lists the MCP servers of the config, how they do and what they bring.',
    role: 'admin',
    input: {},
    output: Type.Object({
      ...listOf(serverView).properties,
      configProblem: Type.Optional(
        Type.String({ description: 'Why the config file does not count as it is now: these are the servers of before.' }),
      ),
    }),
    http: { method: 'GET', path: '/api/mcp/servers' },
  }),
  get: defineContract({
    name: 'mcp.server',
    summary: 'Tells of one MCP server.',
    role: 'admin',
    input: named,
    output: serverView,
    http: { method: 'GET', path: '/api/mcp/servers/:name' },
  }),
  restart: defineContract({
    name: 'mcp.restart',
    summary: 'Ends the connection to an MCP server and makes it anew; what was denied is asked again.',
    role: 'admin',
    input: named,
    output: serverView,
    http: { method: 'POST', path: '/api/mcp/servers/:name/restart' },
  }),
  login: defineContract({
    name: 'mcp.login',
    summary: 'Begins a login to an MCP server: says what a person has to open, in a browser or on another device.',
    role: 'admin',
    isForPeople: true,
    input: {
      name,
      redirectUrl: Type.Optional(
        Type.String({
          pattern: '^http://(127\\.0\\.0\\.1|\\[::1\\]|localhost):\\d+/',
          maxLength: 256,
          description: 'Where the browser comes back to.',
        }),
      ),
    },
    output: Type.Object({
      kind: Type.Enum(['done', 'browser', 'device'], { description: '`done`: nobody needs to log in.' }),
      url: Type.Optional(Type.String()),
      userCode: Type.Optional(Type.String()),
      expiresAtMs: Type.Optional(Type.Number()),
    }),
    http: { method: 'POST', path: '/api/mcp/servers/:name/login' },
  }),
  finishLogin: defineContract({
    name: 'mcp.finishLogin',
    summary: 'Ends a login with what the browser came back with; of a device it waits until a person agreed there.',
    role: 'admin',
    isForPeople: true,
    input: {
      name,
      answer: Type.Optional(
        Type.String({ maxLength: 16_384, description: 'The query of the URL that the browser came back to.' }),
      ),
    },
    output: serverView,
    http: { method: 'POST', path: '/api/mcp/servers/:name/login/finish' },
  }),
  logout: defineContract({
    name: 'mcp.logout',
    summary: 'Forgets the login to an MCP server.',
    role: 'admin',
    isForPeople: true,
    input: named,
    output: Type.Object({ name: Type.String(), wasLoggedIn: Type.Boolean() }),
    http: { method: 'POST', path: '/api/mcp/servers/:name/logout' },
  }),
};

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
