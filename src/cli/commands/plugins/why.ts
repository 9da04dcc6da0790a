import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { McpServerView } from '../../../mcp-servers/server-types.ts';
import { mcpContracts } from '../../../operations/contracts/mcp.ts';
import { pluginContracts } from '../../../operations/contracts/plugins.ts';
import { isNothing } from '../../../permissions/decision.ts';
import { renderDiagnostic } from '../../render/error.ts';
import { renderMcpServer } from '../../render/mcp-server.ts';
import { describeNeed, formatPermissions, paintState } from '../../render/plugin.ts';
import { renderRepairNote } from '../../render/repair.ts';
import { tame } from '../../render/style.ts';
import { renderFacts, renderTable } from '../../render/table.ts';
import { formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addCommand, withDaemon } from '../command.ts';

/** Adds `hotcell why`: how a plugin came to be what it is. */
export function registerWhy(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'why',
    arguments: { '<name>': 'name, name@version or path of the plugin, or the name of an MCP server' },
    run: async ({ name, json, ...flags }) => {
      const server = await withDaemon(session, flags, (client) => findServer(client, name));
      if (server !== undefined) return json ? session.printJson(server) : session.print(renderMcpServer(server, session.style));
      const why = await withDaemon(session, flags, (client) => client.invoke(pluginContracts.why, { name }).catch(nameServers));
      if (json) return session.printJson(why);
      const { style, io } = session;
      session.print(`${style.bold(why.name)} is ${paintState(why.state, style)}.\n\n`);
      const columns = [
        { head: 'TIME', text: (row: Row) => formatTime(row.atMs) },
        { head: 'FROM', text: (row: Row) => row.from },
        { head: 'TO', text: (row: Row) => row.to },
        { head: 'GEN', text: (row: Row) => String(row.generation ?? '') },
        { head: 'REASON', text: (row: Row) => row.reason },
      ];
      type Row = (typeof why.items)[number];
      session.print(renderTable(why.items, columns, io.columns));
      const { requested, granted, pending, source, waitingGeneration } = why.permissions;
      const facts = [
        [`requested (${source})`, formatPermissions(requested)],
        ['granted', formatPermissions(granted)],
        ['pending', formatPermissions(pending)],
        ['to allow it', describeNeed(why)],
        ['waiting', waitingGeneration === undefined ? undefined : `generation ${waitingGeneration}, until that is granted`],
      ] as const;
      const isAsking = !isNothing(requested) || !isNothing(granted);
      if (isAsking) session.print(`\n${renderFacts(facts, style, '')}`);
      if (why.diagnostic !== undefined) session.print(`\n${renderDiagnostic(why.diagnostic, style)}`);
      if (why.health !== undefined)
        session.print(`\n${style.dim('health')} ${tame(`${why.health.outcome}. ${why.health.detail}`)}\n`);
      if (why.repair !== undefined) session.print(`\n${renderRepairNote(why.repair, style)}`);
    },
  });
}

/** The name may be meant for either. */
function nameServers(error: unknown): never {
  if (!(error instanceof HotcellError) || error.code !== 'plugin-unknown') throw error;
  const { message, fix, facts } = error;
  throw new HotcellError('plugin-unknown', message, { fix: `${fix} MCP servers: hotcell mcp servers.`, facts, cause: error });
}

/** An MCP server of that name, as units call it (`mcp:files`) or as the config does where no plugin is called so. */
async function findServer(client: Client, name: string): Promise<McpServerView | undefined> {
  const own = name.startsWith('mcp:') ? name.slice('mcp:'.length) : name;
  const { items } = await client.invoke(mcpContracts.list, {});
  const found = items.find((server) => server.name === own);
  if (found === undefined || own !== name) return found;
  const plugins = await client.invoke(pluginContracts.list, {});
  return plugins.items.some((plugin) => plugin.name === name) ? undefined : found;
}
