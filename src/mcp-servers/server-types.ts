import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';

/** Where a server stands. `waiting`: for somebody to approve its command line. */
export type McpServerState = 'disabled' | 'invalid' | 'waiting' | 'connecting' | 'ready' | 'failed' | 'login';

/** A server as people see it. */
export interface McpServerView {
  readonly name: string;
  readonly state: McpServerState;
  /** The URL, or the command line. */
  readonly target: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly era?: '2026-07-28' | '2025-11-25';
  readonly protocolVersion?: string;
  /** What it says of itself. */
  readonly serverName?: string;
  readonly serverVersion?: string;
  /** Those that serve, as `server/tool`. */
  readonly tools: readonly string[];
  /** Those that somebody has to approve first. */
  readonly waitingTools: readonly string[];
  /** Prompts, as `server/prompt`, and addresses of resources that somebody has to approve first. */
  readonly waitingOfferings: readonly string[];
  /** What of its list cannot be served, and why. */
  readonly problems: readonly string[];
  readonly lastError?: string;
  /** Attempts that failed one after the other. */
  readonly failures: number;
  readonly sinceMs: number;
  /** Of its process, while it is one and runs. */
  readonly pid?: number;
}

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
