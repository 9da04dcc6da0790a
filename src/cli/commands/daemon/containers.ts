import type { Command } from 'commander';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../../errors/near-names.ts';
import { containerContracts } from '../../../operations/contracts/containers.ts';
import type { CliSession } from '../../session.ts';
import { addListing, addOperation } from '../command.ts';

/** Adds `hotcell containers …`. */
export function registerContainers(program: Command, session: CliSession): void {
  const containers = program.command('containers');
  const { style } = session;

  addListing(containers, session, {
    name: 'list',
    isDefault: true,
    about: 'list what runs in containers now',
    contract: containerContracts.list,
    empty: 'Nothing runs in a container.\n',
    columns: [
      { head: 'ID', text: (row) => row.id },
      { head: 'COMMAND', text: (row) => row.command ?? '-' },
      { head: 'IMAGE', text: (row) => row.image },
      { head: 'SINCE', text: (row) => row.startedAt },
    ],
  });

  addOperation(containers, session, {
    name: 'kill',
    about: 'end what runs in containers; its calls go on with an error',
    arguments: { '[id]': 'the execution, as hotcell containers shows it' },
    options: { '--all': 'all of them' },
    contract: containerContracts.kill,
    input({ id, all }) {
      if ((id === undefined) === (all === true)) return omitUndefined({ id });
      throw new HotcellError('usage-wrong', 'hotcell containers kill takes the id of one, or --all.');
    },
    findMissing: async ({ killed }, { id }, client) => {
      if (id === undefined || killed > 0) return undefined;
      const ids = (await client.invoke(containerContracts.list, {})).items.map((row) => row.id);
      return new HotcellError('not-found', `Nothing runs in a container for "${id.slice(0, 64)}".${suggestNearNames(id, ids)}`, {
        fix: 'See what runs: hotcell containers list.',
      });
    },
    show: ({ killed }) => `${style.green('✓')} ${killed} ended.\n`,
  });
}
