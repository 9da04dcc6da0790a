import { Argument, type Command, Option } from 'commander';
import type { Static, TSchema } from 'typebox';
import type { Client } from '../../client/client.ts';
import type { CliFlags } from '../../config/read/sources.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../errors/near-names.ts';
import type { OperationContract } from '../../operations/operation.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Column, renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';

/** What an argument or an option is, and what may be written there; an option that is left out is its `usual` text. */
interface WordMeaning {
  readonly about: string;
  readonly choices?: readonly string[];
  readonly usual?: string;
  /** An option that must be there. */
  readonly isNeeded?: true;
}

type Word = string | WordMeaning;
type Words = Readonly<Record<string, Word>>;
type NoWords = Record<never, Word>;

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Text;

type OptionName<Written> = Written extends `-${string}, ${infer Long}`
  ? OptionName<Long>
  : Written extends `--no-${infer Name}` | `--${infer Name} <${string}>` | `--${infer Name}`
    ? CamelCase<Name>
    : never;

type ArgumentName<Written> = Written extends `${'<' | '['}${infer Name}${'...' | ''}${'>' | ']'}`
  ? Name extends `${infer Short}...`
    ? Short
    : Name
  : never;

type TextOf<Each> = Each extends { readonly choices: readonly (infer Choice)[] } ? Choice : string;

/** What a command was given, by its names: `--rate <n>` is `rate`, a text; `--all` is a switch, `<names...>` a list. */
type Given<Arguments extends Words, Options extends Words> = {
  readonly [Written in keyof Arguments as ArgumentName<Written>]: Written extends `${string}...${string}`
    ? readonly string[]
    : Written extends `[${string}`
      ? TextOf<Arguments[Written]> | undefined
      : TextOf<Arguments[Written]>;
} & {
  readonly [Written in keyof Options as OptionName<Written>]?: Written extends `${string}...>`
    ? readonly string[]
    : Written extends `${string}>`
      ? TextOf<Options[Written]>
      : boolean;
} & CommonFlags;

/** What every command may be given. */
export interface CommonFlags extends Pick<CliFlags, 'data' | 'config'> {
  readonly json?: boolean;
}

/** How a command is written. */
interface CommandLine<Arguments extends Words, Options extends Words> {
  readonly name: string;
  /** Absent for commands of the program itself: the table of them has it. */
  readonly about?: string;
  /** It is what its family does when no verb is given. */
  readonly isDefault?: true;
  readonly arguments?: Arguments;
  readonly options?: Options;
  /** What --json does, when it is not the usual; false where there is none. */
  readonly json?: string | false;
}

/** A command that does without a daemon, or sees to it itself. */
interface OwnCommand<Arguments extends Words, Options extends Words> extends CommandLine<Arguments, Options> {
  readonly run: (given: Given<Arguments, Options>) => void | Promise<void>;
}

/** Adds a command, which is run with what was written, by name. */
export function addCommand<const Arguments extends Words = NoWords, const Options extends Words = NoWords>(
  family: Command,
  { name, about, isDefault, json = 'as JSON', run, ...line }: OwnCommand<Arguments, Options>,
): Command {
  const command = family.command(name, { isDefault: isDefault === true });
  if (about !== undefined) command.description(about);
  if (isDefault) refuseVerbs(family, command.option('--json', 'as JSON'));
  const names = Object.entries<Word>(line.arguments ?? {}).map(([written, word]) => {
    const { about: meaning, choices } = describeWord(word);
    const argument = new Argument(written, meaning);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
    return argument.name();
  });
  for (const [written, word] of Object.entries<Word>(line.options ?? {})) {
    const { about: meaning, choices, usual, isNeeded = false } = describeWord(word);
    const option = new Option(written, meaning).default(usual).makeOptionMandatory(isNeeded);
    command.addOption(choices === undefined ? option : option.choices(choices));
  }
  if (json !== false && !isDefault) command.option('--json', json);
  return command.action(() => {
    const words = Object.fromEntries(names.map((each, index) => [each, command.processedArgs[index]]));
    return run({ ...command.optsWithGlobals<Given<Arguments, Options>>(), ...words });
  });
}

function describeWord(word: Word): WordMeaning {
  return typeof word === 'string' ? { about: word } : word;
}

/** A verb that does not exist would be an excess argument of the default one, so that is what it refuses, with the near ones. */
function refuseVerbs(family: Command, command: Command): void {
  command.allowExcessArguments().hook('preAction', (_family, { args: [verb] }) => {
    if (verb === undefined) return;
    throw describeNoCommand(family, verb);
  });
}

/** The error about a command that its family, or the program, does not have. */
function describeNoCommand(family: Command, name: string): HotcellError {
  const verbs = family.commands.map((each) => each.name());
  const path = family.parent === null ? '' : `${family.name()} `;
  return new HotcellError('usage-wrong', `There is no command "${path}${name.slice(0, 64)}".${suggestNearNames(name, verbs)}`, {
    fix: `See hotcell ${path}--help.`,
  });
}

/** Refuses to help with a command that does not exist: the parser would print the help of all others. */
export function refuseHelpWithNothing(program: Command, argv: readonly string[]): void {
  const names = argv.filter((word) => word !== 'help' && word !== '--help' && word !== '-h');
  if (names.length === argv.length) return;
  let command = program;
  for (const word of names) {
    if (word.startsWith('-') || command.commands.length === 0) return;
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) throw describeNoCommand(command, word);
    command = next;
  }
}

/** What a command needs: a daemon that runs, when nothing is said; `alone`: it works without one, `keeps`: and what it does there lasts. */
export type Reach = 'alone' | 'keeps' | undefined;

/** Uses the running daemon for one command or, as far as `reach` says so, the same parts in this process. */
export async function withDaemon<Result>(
  session: CliSession,
  { data, config }: CommonFlags,
  use: (client: Client) => Promise<Result>,
  reach?: Reach,
): Promise<Result> {
  const flags = { data, config };
  const client = await (reach === undefined ? session.connect(flags) : session.connectOrRun(flags, { keeps: reach === 'keeps' }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** A command that works with a daemon, as far as its `reach` says so. */
interface ClientCommand<Arguments extends Words, Options extends Words> extends CommandLine<Arguments, Options> {
  readonly reach?: Reach;
  readonly run: (given: Given<Arguments, Options>, client: Client) => Promise<void>;
}

/** Adds a command that speaks to a daemon. */
export function addClientCommand<const Arguments extends Words = NoWords, const Options extends Words = NoWords>(
  family: Command,
  session: CliSession,
  { run, reach, ...line }: ClientCommand<Arguments, Options>,
): Command {
  return addCommand(family, { ...line, run: (given) => withDaemon(session, given, (client) => run(given, client), reach) });
}

interface OfContract<Input extends TSchema, Output extends TSchema, Arguments extends Words, Options extends Words>
  extends CommandLine<Arguments, Options> {
  readonly contract: OperationContract<Input, Output>;
  readonly reach?: Reach;
  /** Throws `usage-wrong` for what does not fit, before a daemon is looked for. */
  readonly input: (given: Given<Arguments, Options>) => Static<Input> | Promise<Static<Input>>;
}

/** A command that is one operation. */
interface OperationCommand<Input extends TSchema, Output extends TSchema, Arguments extends Words, Options extends Words>
  extends OfContract<Input, Output, Arguments, Options> {
  /** What is printed of the answer, when it is not to be JSON. */
  readonly show: (answer: Static<Output>, given: Given<Arguments, Options>) => string;
  /** False for an answer that nothing was done: the exit code says so. */
  readonly isDone?: (answer: Static<Output>) => boolean;
  /** The error of an answer that there was nothing to do it to; with --json the answer is printed all the same. */
  readonly findMissing?: (
    answer: Static<Output>,
    given: Given<Arguments, Options>,
    client: Client,
  ) => HotcellError | undefined | Promise<HotcellError | undefined>;
}

/** Adds a command that invokes one operation. */
export function addOperation<
  Input extends TSchema,
  Output extends TSchema,
  const Arguments extends Words = NoWords,
  const Options extends Words = NoWords,
>(family: Command, session: CliSession, command: OperationCommand<Input, Output, Arguments, Options>): Command {
  const { contract, reach, input, show, isDone, findMissing, ...line } = command;
  return addCommand(family, {
    ...line,
    run: async (given) => {
      const asked = await input(given);
      return withDaemon(
        session,
        given,
        async (client) => {
          const answer = await client.invoke(contract, asked);
          const missing = await findMissing?.(answer, given, client);
          if (missing !== undefined && !given.json) throw missing;
          if (missing !== undefined || isDone?.(answer) === false) session.exitCode = exitCodes.failed;
          if (given.json) session.printJson(answer);
          else session.print(show(answer, given));
        },
        reach,
      );
    },
  });
}

type ItemOf<Output extends TSchema> = Static<Output> extends { readonly items: readonly (infer Item)[] } ? Item : never;

/** A command that shows a table of what there is. */
interface ListingCommand<Input extends TSchema, Output extends TSchema, Arguments extends Words, Options extends Words>
  extends OfContract<Input, Output, Arguments, Options> {
  /** What is said when there is nothing. */
  readonly empty?: string | ((given: Given<Arguments, Options>) => string);
  readonly columns: readonly Column<ItemOf<Output>>[];
  /** What is told besides, before and after the table. */
  readonly before?: (answer: Static<Output>) => void;
  readonly after?: (answer: Static<Output>) => void;
}

/** Adds a listing. */
export function addListing<
  Input extends TSchema,
  Output extends TSchema,
  const Arguments extends Words = NoWords,
  const Options extends Words = NoWords,
>(family: Command, session: CliSession, listing: ListingCommand<Input, Output, Arguments, Options>): Command {
  const { empty, columns, before, after } = listing;
  return addOperation(family, session, {
    ...listing,
    show(answer, given) {
      before?.(answer);
      const items = itemsOf<ItemOf<Output>>(answer);
      if (items.length === 0 && empty !== undefined) return typeof empty === 'string' ? empty : empty(given);
      session.print(renderTable(items, columns, session.io.columns));
      after?.(answer);
      return '';
    },
  });
}

function itemsOf<Item>(answer: { readonly items?: readonly Item[] }): readonly Item[] {
  return answer.items ?? [];
}

/** Reads an option that has to be one of some words. Throws `usage-wrong`. */
export function readOneOf<Choice extends string>(flag: string, choices: readonly Choice[], text: string): Choice {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new HotcellError('usage-wrong', `Expected ${flag} to be one of ${choices.join(', ')}, got "${text.slice(0, 64)}".`);
}

/** Reads an option that has to be a whole number, from 1. Throws `usage-wrong`. */
export function readCount(flag: string, text = '', max = 1000): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw new HotcellError('usage-wrong', `Expected ${flag} to be a number from 1 to ${max}, got "${text.slice(0, 64)}".`);
}
