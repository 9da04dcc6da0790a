import { Command, CommanderError } from 'commander';
import { HotcellError } from '../errors/hotcell-error.ts';
import { commands } from './commands/table.ts';
import { exitCodeFor, exitCodes } from './exit-codes.ts';
import type { CliIo } from './io.ts';
import { renderError } from './render/error.ts';
import { createSession } from './session.ts';

const help = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 daemon not reachable, 4 denied.
A client finds its daemon by --data, HOTCELL_DATA, or HOTCELL_URL with HOTCELL_TOKEN.
`;

/** Runs one command line (without program names) and resolves with its exit code. Never rejects. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const session = createSession(io);
  const program = new Command('hotcell')
    .description('Drop a TypeScript file into a folder and it is a live, typed, sandboxed tool for language models.')
    .version(session.version, '-V, --version')
    .option('--data <dir>', 'data directory (HOTCELL_DATA)')
    .option('--config <file>', 'config file')
    .addHelpText('after', help)
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false });
  for (const register of commands) register(program, session);
  for (const command of listCommands(program)) {
    command.showHelpAfterError(`See ${nameOf(command)} --help.`);
    command.exitOverride().configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(`${session.style.red('✗')} ${text.replace(/^error: /, '')}`),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return session.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return isHelp(error) ? exitCodes.done : exitCodes.usage;
    if (isInterrupt(error, io)) return 130;
    io.stderr.write(renderError(error, session.style));
    return error instanceof HotcellError ? exitCodeFor(error.code) : exitCodes.failed;
  }
}

function listCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(listCommands)];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function isHelp(error: CommanderError): boolean {
  return error.exitCode === 0;
}

function isInterrupt(error: unknown, io: CliIo): boolean {
  return io.signal?.aborted === true && error instanceof Error && error.name === 'AbortError';
}
