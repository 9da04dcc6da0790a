import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import type { CliFlags } from '../../config/read/sources.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../errors/near-names.ts';
import type { CliSession } from '../session.ts';

/** The flags of a listing. */
export interface ListFlags extends CliFlags {
  readonly json?: boolean;
}

/** Uses the running daemon for one command. */
export async function withDaemon<Result>(
  session: CliSession,
  flags: CliFlags,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  return useAndClose(await session.connect(flags), use);
}

/** Uses the running daemon, or the same parts in this process, for one command; without `keeps` that leaves nothing behind. */
export async function withDaemonOrAlone<Result>(
  session: CliSession,
  { keeps = false, ...flags }: CliFlags & { readonly keeps?: boolean },
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  return useAndClose(await session.connectOrRun(flags, { keeps }), use);
}

async function useAndClose<Result>(client: Client, use: (client: Client) => Promise<Result>): Promise<Result> {
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Makes a listing what its family does when no verb is given. */
export function addDefaultList(family: Command, about: string): Command {
  return addDefaultVerb(family, 'list', about);
}

/**
 * Adds what a family does when no verb is given. A verb that does not exist would be its excess argument, so that is what it
 * refuses, with the near ones.
 */
export function addDefaultVerb(family: Command, name: string, about: string): Command {
  return family
    .command(name, { isDefault: true })
    .description(about)
    .option('--json', 'as JSON')
    .allowExcessArguments()
    .hook('preAction', (_family, { args: [verb] }) => {
      if (verb === undefined) return;
      const verbs = family.commands.map((command) => command.name());
      throw new HotcellError('usage-wrong', `There is no command "${family.name()} ${verb}".${suggestNearNames(verb, verbs)}`, {
        fix: `See hotcell ${family.name()} --help.`,
      });
    });
}
