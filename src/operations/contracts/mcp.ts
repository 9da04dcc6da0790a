import { type Static, Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const name = Type.String({ minLength: 1, maxLength: 64, description: 'The name of the server in mcp.servers.' });
const named = { name };

const serverView = Type.Object({
  name: Type.String(),
  state: Type.Enum(['disabled', 'invalid', 'waiting', 'connecting', 'ready', 'failed', 'login'], {
    description: '`waiting`: for somebody to approve its command line; `login`: for `mcp.login`.',
  }),
  target: Type.String({ description: 'Its URL, or its command line.' }),
  transport: Type.Enum(['stdio', 'http', 'sse']),
  era: Type.Optional(Type.Enum(['2026-07-28', '2025-11-25'], { description: 'Without sessions, and with.' })),
  protocolVersion: Type.Optional(Type.String()),
  serverName: Type.Optional(Type.String({ description: 'What it calls itself.' })),
  serverVersion: Type.Optional(Type.String()),
  tools: Type.Array(Type.String(), { description: 'Those that serve, as server/tool.' }),
  waitingTools: Type.Array(Type.String(), { description: 'Those that are new or changed, until somebody approves them.' }),
  waitingOfferings: Type.Array(Type.String(), {
    description: 'Prompts, as server/prompt, and addresses of resources that are new or changed, until somebody approves them.',
  }),
  problems: Type.Array(Type.String(), { description: 'What of its list cannot be served, and why.' }),
  lastError: Type.Optional(Type.String()),
  failures: Type.Integer({ description: 'Attempts that failed one after the other.' }),
  pid: Type.Optional(Type.Integer({ description: 'Of its process, while it is one and runs.' })),
  sinceMs: Type.Number({ description: 'Since when it stands so.' }),
});

/** An MCP server as doors send it. */
export type McpServerItem = Static<typeof serverView>;

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
