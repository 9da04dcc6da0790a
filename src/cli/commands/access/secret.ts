import type { Command } from 'commander';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../../errors/near-names.ts';
import { secretContracts } from '../../../operations/contracts/access/secrets.ts';
import { describeBinding } from '../../../secrets/binding.ts';
import type { CliSession } from '../../session.ts';
import { addCommand, addListing, addOperation, withDaemon } from '../command.ts';

/** Adds `hotcell secret …`. */
export function registerSecret(program: Command, session: CliSession): void {
  const secret = program.command('secret');
  const { style } = session;

  addCommand(secret, {
    name: 'set',
    about: 'keep a secret; its value is read from standard input, or asked for without being shown',
    arguments: { '<name>': 'as in permissions.env, such as WEATHER_KEY' },
    options: {
      '--host <host...>': { about: 'hosts that it may be sent to', isNeeded: true },
      '--header <name>': 'the header that it may stand in',
      '--query <name>': 'the query parameter that it may stand in',
    },
    run: ({ name, host = [], header, query, json, data, config }) => {
      if ((header === undefined) === (query === undefined)) {
        throw new HotcellError('usage-wrong', 'A secret needs either --header or --query: it is sent in that place alone.');
      }
      return withDaemon(session, { data, config }, async (client) => {
        const value = await readValue(session, name);
        const place = omitUndefined({ header, query });
        const kept = await client.invoke(secretContracts.set, { name, value, hosts: [...host], ...place });
        if (json) return session.printJson(kept);
        session.print(`${style.green('✓')} ${kept.name} may go into ${describeBinding(kept)}.\n`);
        session.note(style.dim(`Let a plugin use it: hotcell grant PLUGIN env=${kept.name}\n`));
      });
    },
  });

  addListing(secret, session, {
    name: 'list',
    isDefault: true,
    about: 'list the secrets, without their values',
    contract: secretContracts.list,
    empty: 'No secrets. Keep one: hotcell secret set NAME --host HOST --header HEADER\n',
    columns: [
      { head: 'NAME', text: (row) => row.name },
      { head: 'FROM', text: (row) => row.origin },
      { head: 'STATE', text: (row) => row.problem ?? 'usable' },
      { head: 'GOES INTO', text: (row) => describeBinding(row) },
    ],
  });
  addOperation(secret, session, {
    name: 'remove',
    about: 'remove a secret at once, also for calls under way',
    arguments: { '<name>': 'the secret' },
    contract: secretContracts.remove,
    findMissing: async ({ removed }, { name }, client) => {
      if (removed) return undefined;
      const names = (await client.invoke(secretContracts.list, {})).items.map((row) => row.name);
      return new HotcellError('not-found', `There is no secret "${name.slice(0, 64)}".${suggestNearNames(name, names)}`, {
        fix: 'List the secrets: hotcell secret list.',
      });
    },
    show: (_answer, { name }) => `${style.green('✓')} ${name} is removed.\n`,
  });
}

/** Never from an argument: those stand in the list of processes and in the history of the shell. */
async function readValue({ io }: CliSession, name: string): Promise<string> {
  const written = io.askHidden === undefined ? await io.readStdin() : await io.askHidden(`Value of ${name}: `);
  const value = written.replace(/\r?\n$/, '');
  if (value !== '') return value;
  throw new HotcellError('usage-wrong', `Expected the value of ${name} on standard input, got nothing.`);
}
