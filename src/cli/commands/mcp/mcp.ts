import type { Command } from 'commander';
import type { CliFlags } from '../../../config/sources.ts';
import type { CliSession } from '../../session.ts';

/** Adds `hotcell mcp …`. */
export function registerMcp(program: Command, session: CliSession): void {
  program
    .command('mcp')
    .description('speak MCP on standard input and output: what a client is told to start')
    .action(async (_options: unknown, command: Command) => {
      const { serveStdio } = await import('./serve-stdio.ts');
      await serveStdio(session, command.optsWithGlobals<CliFlags>());
    });
}
