import type { Command } from 'commander';
import type { Static, TSchema } from 'typebox';
import type { OperationContract } from '../../operations/operation.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Column, renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';
import { addDefaultList, type ListFlags, withDaemon, withDaemonOrAlone } from './command.ts';

interface OfContract<Input extends TSchema, Output extends TSchema> {
  readonly contract: OperationContract<Input, Output>;
  readonly about: string;
  /** `alone`: it works without a daemon, `keeps`: and what it does there lasts. */
  readonly reach?: 'alone' | 'keeps';
}

/** A command that is one operation on one thing. */
export interface OperationCommand<Input extends TSchema, Output extends TSchema> extends OfContract<Input, Output> {
  readonly verb: string;
  /** What the argument is, such as `['name', 'NAME, or SKILL/NAME']`. */
  readonly argument: readonly [name: string, about: string];
  readonly input: (argument: string) => Static<Input>;
  /** What is printed of the answer, when it is not to be JSON. */
  readonly show: (answer: Static<Output>, argument: string) => string;
  /** False for an answer that nothing was done: the exit code says so. */
  readonly isDone?: (answer: Static<Output>) => boolean;
}

/** Adds a command that invokes one operation. */
export function addOperation<Input extends TSchema, Output extends TSchema>(
  family: Command,
  session: CliSession,
  { verb, about, argument, contract, input, show, isDone, reach }: OperationCommand<Input, Output>,
): Command {
  return family
    .command(verb)
    .description(about)
    .argument(`<${argument[0]}>`, argument[1])
    .option('--json', 'as JSON')
    .action((word: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return useReach(
        session,
        flags,
        reach,
      )(async (client) => {
        const answer = await client.invoke(contract, input(word));
        if (isDone?.(answer) === false) session.exitCode = exitCodes.failed;
        if (flags.json) session.printJson(answer);
        else session.print(show(answer, word));
      });
    });
}

type ItemOf<Output extends TSchema> = Static<Output> extends { readonly items: readonly (infer Item)[] } ? Item : never;

/** A table of what there is. */
export interface ListingCommand<Input extends TSchema, Output extends TSchema> extends OfContract<Input, Output> {
  /** What the family does without a verb, when absent. */
  readonly verb?: string;
  readonly input: Static<Input>;
  /** What is said when there is nothing. */
  readonly empty?: string;
  readonly columns: readonly Column<ItemOf<Output>>[];
  /** What is told besides, before and after the table. */
  readonly before?: (answer: Static<Output>) => void;
  readonly after?: (answer: Static<Output>) => void;
}

/** Adds the listing of a family. */
export function addListing<Input extends TSchema, Output extends TSchema>(
  family: Command,
  session: CliSession,
  listing: ListingCommand<Input, Output>,
): void {
  const { verb, contract, about, reach, input, empty, columns, before, after } = listing;
  const added =
    verb === undefined ? addDefaultList(family, about) : family.command(verb).description(about).option('--json', 'as JSON');
  added.action((_options: unknown, command: Command) => {
    const flags = command.optsWithGlobals<ListFlags>();
    return useReach(
      session,
      flags,
      reach,
    )(async (client) => {
      const answer = await client.invoke(contract, input);
      if (flags.json) return session.printJson(answer);
      before?.(answer);
      const items = itemsOf<ItemOf<Output>>(answer);
      if (items.length === 0 && empty !== undefined) return session.print(empty);
      session.print(renderTable(items, columns, session.io.columns));
      after?.(answer);
    });
  });
}

function useReach(session: CliSession, flags: ListFlags, reach: OfContract<TSchema, TSchema>['reach']) {
  return (use: Parameters<typeof withDaemon<void>>[2]): Promise<void> =>
    reach === undefined
      ? withDaemon(session, flags, use)
      : withDaemonOrAlone(session, { ...flags, keeps: reach === 'keeps' }, use);
}

function itemsOf<Item>(answer: { readonly items?: readonly Item[] }): readonly Item[] {
  return answer.items ?? [];
}
