import type { Command } from 'commander';
import type { CliSession } from '../../session.ts';
import { addCommand } from '../command.ts';

/** Adds `hotcell start`: the daemon in this process, until it is told to end. */
export function registerStart(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'start',
    options: {
      '--host <host>': 'address to listen on (127.0.0.1)',
      '--port <port>': 'port to listen on (7420)',
      '--plugins <dir...>': 'plugin folders',
      '--skills <dir...>': 'skill folders',
      '--wasm <dir...>': 'folders of WebAssembly plugins',
      '--grant-requested': 'grant whatever plugins ask for: for your own machine only',
      '--safe': 'load no plugin (safeMode: all)',
      '--log-level <level>': 'debug, info, warn or error',
      '--quiet': 'in a terminal: no lines for calls, logs and warnings',
    },
    json: 'log JSON lines, also in a terminal',
    run: async ({ json = false, quiet = false, ...flags }) => {
      const { serve } = await import('../../serve.ts');
      await serve(session, flags, { json, quiet });
    },
  });
}
