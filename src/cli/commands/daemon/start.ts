import type { Command } from 'commander';
import type { CliFlags } from '../../../config/read/sources.ts';
import type { CliSession } from '../../session.ts';

interface StartFlags extends CliFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Adds `hotcell start`: the daemon in this process, until it is told to end. */
export function registerStart(program: Command, session: CliSession): void {
  program
    .command('start')
    .option('--host <host>', 'address to listen on (127.0.0.1)')
    .option('--port <port>', 'port to listen on (7420)')
    .option('--plugins <dir...>', 'plugin folders')
    .option('--skills <dir...>', 'skill folders')
    .option('--wasm <dir...>', 'folders of WebAssembly plugins')
    .option('--grant-requested', 'grant whatever plugins ask for: for your own machine only')
    .option('--safe', 'load no plugin (safeMode: all)')
    .option('--log-level <level>', 'debug, info, warn or error')
    .option('--quiet', 'in a terminal: no lines for calls, logs and warnings')
    .option('--json', 'log JSON lines, also in a terminal')
    .action(async (_options: unknown, command: Command) => {
      const { json = false, quiet = false, ...flags } = command.optsWithGlobals<StartFlags>();
      const { serve } = await import('../../serve.ts');
      await serve(session, flags, { json, quiet });
    });
}
