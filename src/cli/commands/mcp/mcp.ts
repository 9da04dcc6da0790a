import type { Command } from 'commander';
import type { CliFlags } from '../../../config/read/sources.ts';
import { mcpClientContracts } from '../../../operations/contracts/mcp-clients.ts';
import { formatTime } from '../../render/format.ts';
import { tame } from '../../render/style.ts';
import type { CliSession } from '../../session.ts';
import { addListing } from '../operation-command.ts';
import { clientFiles } from './client-files.ts';
import type { InstallFlags } from './install.ts';
import { registerMcpServers } from './servers.ts';

/** Adds `hotcell mcp …`. */
export function registerMcp(program: Command, session: CliSession): void {
  const mcp = program
    .command('mcp')
    .description('speak MCP on standard input and output: what a client is told to start')
    .option('--manage', 'serve the operations of the daemon instead of its tools')
    .action(async (_options: unknown, command: Command) => {
      const { serveStdio } = await import('./serve-stdio.ts');
      await serveStdio(session, command.optsWithGlobals<CliFlags & { readonly manage?: boolean }>());
    });

  mcp
    .command('install')
    .description('set up an MCP client: show what it needs, ask, and write it with a key of its own')
    .option('--client <client>', `needed: ${Object.keys(clientFiles).join(', ')}`)
    .option('--user', 'for all projects, where the client has files for one project too')
    .option('--name <name>', 'what the client calls the server (hotcell)')
    .option('--tools <tool...>', 'names of tools, * for any text: the client never hears of others')
    .option('--rate <count>', 'calls a minute at most')
    .option('--expires <time>', 'when the key ends, such as 30d or 2027-01-31 (90d)')
    .option('--no-may-answer', 'questions of its calls are answered elsewhere alone')
    .option('--code', 'it has scripts run that call its tools: search_code and run_code')
    .option('--print', 'show what is needed and write nothing')
    .option('--yes', 'write without a question')
    .action(async (_options: unknown, command: Command) => {
      const { installClient } = await import('./install.ts');
      await installClient(session, command.optsWithGlobals<InstallFlags>());
    });

  addListing(mcp, session, {
    verb: 'status',
    contract: mcpClientContracts.list,
    about: 'list the MCP clients of the last hour',
    input: {},
    empty: 'No MCP client was here in the last hour. Set one up: hotcell mcp install --client NAME\n',
    columns: [
      { head: 'CLIENT', text: ({ client }) => tame(client) },
      { head: 'ERA', text: ({ era }) => era },
      { head: 'KEY', text: ({ caller }) => caller },
      { head: 'LISTENS', text: ({ listening }) => (listening ? 'yes' : 'no') },
      { head: 'LAST USED', text: ({ usedAtMs }) => formatTime(usedAtMs) },
      { head: 'LAST TOLD', text: ({ toldAtMs }) => (toldAtMs === undefined ? 'never' : formatTime(toldAtMs)) },
    ],
  });
  registerMcpServers(mcp, session);
}
