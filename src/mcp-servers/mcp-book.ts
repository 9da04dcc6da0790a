import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config-types.ts';
import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';
import type { LoginStep } from './auth/login.ts';
import type { McpLogins } from './auth/mcp-logins.ts';
import { nameMcpUnit } from './mcp-unit.ts';
import { type HttpPlan, planServer } from './server-plan.ts';
import type { McpServer, McpServerView } from './server-types.ts';

/** The MCP servers of the config. */
export type McpBook = ReturnType<typeof createMcpBook>;

/** Creates the book; nothing is started before it follows the config. */
export function createMcpBook(parts: {
  /** `servers` follows the config file. */
  readonly settings: Config['mcp'];
  /** False: servers are listed, and none is connected to. */
  readonly isOn: () => boolean;
  readonly logins: () => Promise<McpLogins>;
  readonly start: (name: string, setting: McpServerSetting) => McpServer;
}) {
  const servers = new Map<string, McpServer>();
  let turn = Promise.resolve();

  async function bringInLine(): Promise<void> {
    const wanted = parts.isOn() ? parts.settings.servers : {};
    const over = [...servers].filter(([name, { setting }]) => !isDeepStrictEqual(setting, wanted[name]));
    for (const [name] of over) servers.delete(name);
    await Promise.all(over.map(([name, server]) => server.close({ isGone: !Object.hasOwn(wanted, name) })));
    for (const [name, setting] of Object.entries(wanted)) if (!servers.has(name)) servers.set(name, parts.start(name, setting));
  }

  function require(name: string): McpServer {
    const server = servers.get(name);
    if (server !== undefined) return server;
    const near = suggestNearNames(name, servers.keys());
    throw new HotcellError('mcp-unknown', `There is no MCP server ${JSON.stringify(name.slice(0, 64))} in the config.${near}`);
  }

  function requireLogin(name: string): HttpPlan {
    const plan = planServer(name, require(name).setting);
    if (plan.by === 'http' && plan.auth !== undefined) return plan;
    throw new HotcellError('conflict', `The MCP server "${name}" has no login: its entry in the config names none.`, {
      fix: `Say auth: {} in mcp.servers.${name}, or put a key into its headers.`,
    });
  }

  const requireOf = ({ unitPath }: Approval): McpServer => require(unitPath.slice(nameMcpUnit('').length));

  return {
    /** Brings the servers in line with the config: those that are new or changed start, those that are gone end. */
    follow(): Promise<void> {
      turn = turn.then(bringInLine);
      return turn;
    },
    list: (): McpServerView[] =>
      [...servers.values()].map((server) => server.view()).sort((one, other) => (one.name < other.name ? -1 : 1)),
    /** Throws `mcp-unknown` with near names. */
    get: (name: string): McpServerView => require(name).view(),
    restart(name: string): McpServerView {
      const server = require(name);
      server.restart();
      return server.view();
    },
    /** Begins a login. Throws `conflict` for a server that has none. */
    async login(
      name: string,
      options: { readonly redirectUrl: string | undefined; readonly signal: AbortSignal },
    ): Promise<LoginStep> {
      const plan = requireLogin(name);
      return (await parts.logins()).begin(name, plan, options);
    },
    async finishLogin(
      name: string,
      options: { readonly answer: URLSearchParams | undefined; readonly signal: AbortSignal },
    ): Promise<McpServerView> {
      requireLogin(name);
      await (await parts.logins()).finish(name, options);
      return this.restart(name);
    },
    /** False when nobody was logged in. */
    async logout(name: string): Promise<boolean> {
      const plan = requireLogin(name);
      const wasLoggedIn = (await parts.logins()).forget(name, plan);
      if (wasLoggedIn) require(name).restart();
      return wasLoggedIn;
    },
    /** Throws `conflict` when something else is asked by now. */
    requireAsked: (approval: Approval): void => requireOf(approval).requireAsked(approval),
    approveAsked: (approval: Approval, by: string): void => requireOf(approval).approveAsked(approval, by),
    async close(): Promise<void> {
      await turn;
      await Promise.all([...servers.values()].map((server) => server.close({ isGone: false })));
    },
  };
}
