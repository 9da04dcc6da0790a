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

/** What an argument or an option is, and what may be written there; an option that is left out is its `usual` value. */
interface WordMeaning {
  readonly about: string;
  readonly choices?: readonly string[];
  /** It is a whole number, of these two or between them. */
  readonly range?: readonly [min: number, max: number];
  /** What helps where something else was written, beside the arguments that were. */
  readonly fix?: (words: readonly string[]) => string;
  readonly usual?: string | number;
  /** An option that must be there. */
  readonly isNeeded?: true;
}

type Word = string | WordMeaning;
type Words = Readonly<Record<string, Word>>;
type NoWords = Record<never, Word>;

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Text;

type OptionName<Written> = Written extends `-${string}, ${infer Long}`
  ? OptionName<Long>
  : Written extends `${infer Name} <${string}>`
    ? OptionName<Name>
    : Written extends `--no-${infer Name}`
      ? CamelCase<Name>
      : Written extends `--${infer Name}`
        ? CamelCase<Name>
        : never;

type ArgumentName<Written> = Written extends `${'<' | '['}${infer Name}${'...' | ''}${'>' | ']'}`
  ? Name extends `${infer Short}...`
    ? Short
    : Name
  : never;

type ValueOf<Each> = Each extends { readonly range: readonly number[] }
  ? number
  : Each extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;

type ArgumentValue<Written, Each> = Written extends `${string}...${string}` ? readonly string[] : ValueOf<Each>;

/** What was written, by its names: `--rate <n>` is `rate`, a text; `--all` is a switch, `<names...>` a list. */
type Written<Arguments extends Words, Options extends Words> = {
  readonly [Each in keyof Arguments as Each extends (`[${string}` & `${string}...${string}`) | `<${string}`
    ? ArgumentName<Each>
    : never]: ArgumentValue<Each, Arguments[Each]>;
} & {
  readonly [Each in keyof Arguments as Each extends (`[${string}` & `${string}...${string}`) | `<${string}`
    ? never
    : ArgumentName<Each>]?: ArgumentValue<Each, Arguments[Each]>;
} & {
  readonly [Each in keyof Options as OptionName<Each>]?: Each extends `${string}...>`
    ? readonly string[]
    : Each extends `${string}>`
      ? ValueOf<Options[Each]>
      : boolean;
};

/** What a command was given. */
type Given<Arguments extends Words, Options extends Words> = Written<Arguments, Options> & CommonFlags;

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
    const meaning = describeWord(word);
    const argument = new Argument(written, meaning.about);
    limitWord(command, argument, meaning);
    command.addArgument(argument);
    return argument.name();
  });
  for (const [written, word] of Object.entries<Word>(line.options ?? {})) {
    const meaning = describeWord(word);
    const option = new Option(written, meaning.about).default(meaning.usual).makeOptionMandatory(meaning.isNeeded === true);
    limitWord(command, option, meaning);
    command.addOption(option);
  }
  if (json !== false && !isDefault) command.option('--json', json);
  return command.action(() => {
    const words = names.map((each, index) => [each, command.processedArgs[index]] as const);
    const said = Object.fromEntries(words.filter(([, value]) => value !== undefined));
    return run({ ...command.optsWithGlobals<Given<Arguments, Options>>(), ...said });
  });
}

function describeWord(word: Word): WordMeaning {
  return typeof word === 'string' ? { about: word } : word;
}

/** Has the parser refuse what may not be written there. */
function limitWord(command: Command, word: Argument | Option, { choices, range, fix }: WordMeaning): void {
  const name = word instanceof Option ? `--${word.name()}` : word.name();
  const refuse = (expected: string, text: string, near = ''): HotcellError =>
    new HotcellError('usage-wrong', `Expected ${name} to be ${expected}, got "${text.slice(0, 64)}".${near}`, {
      fix: fix?.(command.args) ?? `See ${nameOfCommand(command)} --help.`,
    });
  if (choices !== undefined) {
    word.choices(choices).argParser((text: string) => {
      if (choices.includes(text)) return text;
      throw refuse(`one of ${choices.join(', ')}`, text, suggestNearNames(text, choices));
    });
  }
  if (range !== undefined) {
    const [min, max] = range;
    word.argParser((text: string) => {
      const count = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
      if (count >= min && count <= max) return count;
      throw refuse(`a number from ${min} to ${max}`, text);
    });
  }
}

/** Such as `hotcell plugin list`. */
export function nameOfCommand(command: Command): string {
  return command.parent === null ? command.name() : `${nameOfCommand(command.parent)} ${command.name()}`;
}

/** A verb that does not exist would be an excess argument of the default one, so that is what it refuses, with the near ones. */
function refuseVerbs(family: Command, command: Command): void {
  command.allowExcessArguments().hook('preAction', (_family, { args: [verb] }) => {
    if (verb === undefined) return;
    throw describeNoCommand(family, verb);
  });
}

/** The error about a command that its family, or the program, does not have. */
export function describeNoCommand(family: Command, name: string): HotcellError {
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
  /** What is asked of the operation: what was written, when nothing is said. */
  readonly input?: ReadInput<Input, Arguments, Options>;
}

/** Where what was written is not what the operation takes, the command says what is. */
type Asking<Input extends TSchema, Arguments extends Words, Options extends Words> = [
  keyof Written<Arguments, Options>,
  Written<Arguments, Options>,
] extends [keyof Static<Input>, Static<Input>]
  ? unknown
  : { readonly input: ReadInput<Input, Arguments, Options> };

/** Throws `usage-wrong` for what does not fit, before a daemon is looked for. */
type ReadInput<Input extends TSchema, Arguments extends Words, Options extends Words> = (
  given: Given<Arguments, Options>,
) => Static<Input> | Promise<Static<Input>>;

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
>(
  family: Command,
  session: CliSession,
  command: OperationCommand<Input, Output, Arguments, Options> & Asking<Input, Arguments, Options>,
): Command {
  const operation: OperationCommand<Input, Output, Arguments, Options> = command;
  const { contract, reach, input = takeWords, show, isDone, findMissing, ...line } = operation;
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

/** What was written is what is asked: the types of the command see to that. */
function takeWords<Input extends TSchema>(given: CommonFlags): Static<Input>;
function takeWords({ json: _json, data: _data, config: _config, ...words }: CommonFlags): object {
  return words;
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
>(
  family: Command,
  session: CliSession,
  listing: ListingCommand<Input, Output, Arguments, Options> & Asking<Input, Arguments, Options>,
): Command {
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
