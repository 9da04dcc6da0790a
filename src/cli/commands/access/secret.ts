import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { secretContracts } from '../../../operations/contracts/access/secrets.ts';
import { describeBinding } from '../../../secrets/binding.ts';
import type { CliSession } from '../../session.ts';
import { type ListFlags, withDaemon } from '../command.ts';
import { addListing, addOperation } from '../operation-command.ts';

interface SetFlags extends Omit<ListFlags, 'host'> {
  readonly host: readonly string[];
  readonly header?: string;
  readonly query?: string;
}

/** Adds `hotcell secret …`. */
export function registerSecret(program: Command, session: CliSession): void {
  const secret = program.command('secret');
  const { style } = session;

  secret
    .command('set')
    .description('keep a secret; its value is read from standard input, or asked for without being shown')
    .argument('<name>', 'as in permissions.env, such as WEATHER_KEY')
    .requiredOption('--host <host...>', 'hosts that it may be sent to')
    .option('--header <name>', 'the header that it may stand in')
    .option('--query <name>', 'the query parameter that it may stand in')
    .option('--json', 'as JSON')
    .action((name: string, _options: unknown, command: Command) => {
      const { host, header, query, json, ...flags } = command.optsWithGlobals<SetFlags>();
      if ((header === undefined) === (query === undefined)) {
        throw new HotcellError('usage-wrong', 'A secret needs either --header or --query: it is sent in that place alone.');
      }
      const place = header === undefined ? { query: query ?? '' } : { header };
      return withDaemon(session, flags, async (client) => {
        const value = await readValue(session, name);
        const kept = await client.invoke(secretContracts.set, { name, value, hosts: [...host], ...place });
        if (json) return session.printJson(kept);
        session.print(`${style.green('✓')} ${kept.name} may go into ${describeBinding(kept)}.\n`);
        session.note(style.dim(`Let a plugin use it: hotcell grant PLUGIN env=${kept.name}\n`));
      });
    });

  addListing(secret, session, {
    contract: secretContracts.list,
    about: 'list the secrets, without their values',
    input: {},
    empty: 'No secrets. Keep one: hotcell secret set NAME --host HOST --header HEADER\n',
    columns: [
      { head: 'NAME', text: (row) => row.name },
      { head: 'FROM', text: (row) => row.origin },
      { head: 'STATE', text: (row) => row.problem ?? 'usable' },
      { head: 'GOES INTO', text: (row) => describeBinding(row) },
    ],
  });
  addOperation(secret, session, {
    verb: 'remove',
    contract: secretContracts.remove,
    about: 'remove a secret at once, also for calls under way',
    argument: ['name', 'the secret'],
    input: (name) => ({ name }),
    isDone: ({ removed }) => removed,
    show: ({ removed }, name) => (removed ? `${style.green('✓')} ${name} is removed.\n` : `There is no secret ${name}.\n`),
  });
}

/** Never from an argument: those stand in the list of processes and in the history of the shell. */
async function readValue({ io }: CliSession, name: string): Promise<string> {
  const written = io.askHidden === undefined ? await io.readStdin() : await io.askHidden(`Value of ${name}: `);
  return written.replace(/\r?\n$/, '');
}
