import { isDeepStrictEqual } from 'node:util';
import type { McpServerSetting, McpSettings } from '../config/mcp-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';
import { nameMcpUnit } from './mcp-unit.ts';
import type { McpServer, McpServerView } from './server-types.ts';

/** The MCP servers of the config. */
export interface McpBook {
  /** Brings the servers in line with the config: those that are new or changed start, those that are gone end. */
  follow(): Promise<void>;
  list(): readonly McpServerView[];
  /** Throws `mcp-unknown` with near names. */
  get(name: string): McpServerView;
  restart(name: string): McpServerView;
  /** Throws `conflict` when something else is asked by now. */
  requireAsked(approval: Approval): void;
  approveAsked(approval: Approval, by: string): void;
  close(): Promise<void>;
}

/** Creates the book; nothing is started before it follows the config. */
export function createMcpBook(parts: {
  /** `servers` follows the config file. */
  readonly settings: McpSettings;
  /** False: servers are listed, and none is connected to. */
  readonly isOn: () => boolean;
  readonly start: (name: string, setting: McpServerSetting) => McpServer;
}): McpBook {
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

  const requireOf = ({ unitPath }: Approval): McpServer => require(unitPath.slice(nameMcpUnit('').length));

  return {
    follow() {
      turn = turn.then(bringInLine);
      return turn;
    },
    list: () => [...servers.values()].map((server) => server.view()).sort((one, other) => (one.name < other.name ? -1 : 1)),
    get: (name) => require(name).view(),
    restart(name) {
      const server = require(name);
      server.restart();
      return server.view();
    },
    requireAsked: (approval) => requireOf(approval).requireAsked(approval),
    approveAsked: (approval, by) => requireOf(approval).approveAsked(approval, by),
    async close() {
      await turn;
      await Promise.all([...servers.values()].map((server) => server.close({ isGone: false })));
    },
  };
}
