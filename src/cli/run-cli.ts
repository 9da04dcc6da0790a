import { Command, CommanderError } from 'commander';
import { errorCatalog } from '../errors/catalog.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { describeNoCommand, nameOfCommand, refuseHelpWithNothing } from './commands/command.ts';
import { examplesOf } from './commands/examples.ts';
import { commands } from './commands/table.ts';
import { exitCodeFor, exitCodes } from './exit-codes.ts';
import { explainFileError } from './file-error.ts';
import type { CliIo } from './io.ts';
import { renderError } from './render/error.ts';
import { type CliSession, createSession } from './session.ts';

const help = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 daemon not reachable, 4 denied.
A client finds its daemon by --data, HOTCELL_DATA, or HOTCELL_URL with HOTCELL_TOKEN.
Pages to read: hotcell docs
`;

/** Runs one command line (without program names) and resolves with its exit code. Never rejects. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const session = createSession(io);
  let command = 'hotcell';
  try {
    const program = await createCommandLine(session, argv);
    refuseHelpWithNothing(program, argv);
    program.hook('preAction', (_program, action) => {
      command = nameOfCommand(action);
    });
    await program.parseAsync([...argv], { from: 'user' });
    return session.exitCode;
  } catch (thrown) {
    const error = explainFileError(thrown);
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (isInterrupt(error, io)) return 130;
    io.stderr.write(renderError(nameHelp(error, command), session.style));
    return error instanceof HotcellError ? exitCodeFor(error.code) : exitCodes.failed;
  }
}

/** The commands whose names are among `words` as they are, of the others their names and what they are for. */
export async function createCommandLine(session: CliSession, words: readonly string[]): Promise<Command> {
  const { io } = session;
  const program = new Command('hotcell')
    .description('Drop a TypeScript file into a folder and it is a live, typed, sandboxed tool for language models.')
    .option('-V, --version', 'output the version number')
    .on('option:version', () => {
      session.print(`${session.version}\n`);
      throw new CommanderError(0, 'commander.version', session.version);
    })
    .option('--data <dir>', 'data directory (HOTCELL_DATA)')
    .option('--config <file>', 'config file')
    .addHelpText('after', help)
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false });
  for (const { about, load } of commands) {
    const names = Object.keys(about);
    if (names.some((name) => words.includes(name))) (await load())(program, session);
    else for (const name of names) program.command(name);
  }
  const aboutAll = new Map(commands.flatMap(({ about }) => Object.entries(about)));
  for (const command of program.commands) command.description(aboutAll.get(command.name()) ?? '');
  for (const command of listCommands(program)) {
    const name = nameOfCommand(command);
    if (command !== program) command.addHelpText('after', () => examplesOf(name));
    command.configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: () => {},
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
    command.exitOverride((error) => {
      throw isAboutUsage(error) ? describeUsage(error, command) : error;
    });
  }
  return program;
}

/** The command itself and all below it. */
export function listCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(listCommands)];
}

function isAboutUsage({ exitCode, code }: CommanderError): boolean {
  return exitCode !== 0 && code !== 'commander.help';
}

/** What the parser says, in the form of all errors. */
function describeUsage({ message, code }: CommanderError, command: Command): HotcellError {
  const [verb] = command.args;
  const isVerb = code === 'commander.unknownCommand' || (code === 'commander.excessArguments' && command.commands.length > 0);
  if (isVerb && verb !== undefined) return describeNoCommand(command, verb);
  const name = nameOfCommand(command);
  const text = message
    .replace(/^error: /, '')
    .replace(/\n\((.*)\)$/, '. $1')
    .replaceAll("'", '"');
  const sentence = `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
  const [, option] = name === 'hotcell call' ? (/^Unknown option "--([\w-]+)/.exec(sentence) ?? []) : [];
  const fix =
    option === undefined ? `See ${name} --help.` : `Arguments of a tool are written ${option}=VALUE. See ${name} --help.`;
  return new HotcellError('usage-wrong', /[.?]$/.test(sentence) ? sentence : `${sentence}.`, { fix });
}

/** Wrong usage that says no better leads to the help of the command that was run. */
function nameHelp(error: unknown, command: string): unknown {
  if (!(error instanceof HotcellError) || (error.code !== 'usage-wrong' && error.code !== 'body-invalid')) return error;
  if (error.fix !== errorCatalog[error.code].fix) return error;
  return new HotcellError(error.code, error.message, { fix: `See ${command} --help.`, facts: error.facts, cause: error });
}

function isInterrupt(error: unknown, io: CliIo): boolean {
  return io.signal?.aborted === true && error instanceof Error && error.name === 'AbortError';
}
