import { type Static, Type } from 'typebox';
import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';

/** A server as people see it. */
export const serverView = Type.Object({
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

export type McpServerView = Static<typeof serverView>;

export type McpServerState = McpServerView['state'];

/** One server of the config. */
export interface McpServer {
  readonly setting: McpServerSetting;
  view(): McpServerView;
  /** Ends the connection and makes it anew; what was denied is asked again. */
  restart(): void;
  /** Throws `conflict` when something else is asked by now. */
  requireAsked(approval: Approval): void;
  approveAsked(approval: Approval, by: string): void;
  /** Ends everything; its tools go, and when it is gone for good its questions, too. */
  close(how: { readonly isGone: boolean }): Promise<void>;
}
