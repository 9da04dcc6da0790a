import type { Command } from 'commander';
import { mcpClientContracts } from '../../../operations/contracts/mcp.ts';
import { tame } from '../../render/style.ts';
import { formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addCommand, addListing } from '../command.ts';
import { clientFiles } from './client-files.ts';
import { registerMcpServers } from './servers.ts';

/** Adds `hotcell mcp …`. */
export function registerMcp(program: Command, session: CliSession): void {
  const mcp = addCommand(program, {
    name: 'mcp',
    about: 'speak MCP on standard input and output: what a client is told to start',
    options: { '--manage': 'serve the operations of the daemon instead of its tools' },
    json: false,
    run: async (flags) => (await import('./serve-stdio.ts')).serveStdio(session, flags),
  });

  addCommand(mcp, {
    name: 'install',
    about: 'set up an MCP client: show what it needs, ask, and write it with a key of its own',
    options: {
      '--client <client>': `needed: ${Object.keys(clientFiles).join(', ')}`,
      '--user': 'for all projects, where the client has files for one project too',
      '--name <name>': 'what the client calls the server (hotcell)',
      '--tools <tool...>': 'names of tools, * for any text: the client never hears of others',
      '--rate <count>': 'calls a minute at most',
      '--expires <time>': 'when the key ends, such as 30d or 2027-01-31 (90d)',
      '--no-may-answer': 'questions of its calls are answered elsewhere alone',
      '--code': 'it has scripts run that call its tools: search_code and run_code',
      '--print': 'show what is needed and write nothing',
      '--yes': 'write without a question',
    },
    json: false,
    run: async (flags) => (await import('./install.ts')).installClient(session, flags),
  });

  addListing(mcp, session, {
    name: 'status',
    about: 'list the MCP clients of the last hour',
    contract: mcpClientContracts.list,
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
