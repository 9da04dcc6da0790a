import type { Command } from 'commander';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../../errors/near-names.ts';
import { containerContracts, imageContracts } from '../../../operations/contracts/containers.ts';
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

const mib = 1024 * 1024;

/** Adds `hotcell images …`. */
export function registerImages(program: Command, session: CliSession): void {
  const images = program.command('images');
  const { style } = session;

  const paints = { present: style.green, missing: style.dim, changed: style.yellow };
  addListing(images, session, {
    name: 'list',
    isDefault: true,
    about: 'list them: which are there, and how to get the others',
    reach: 'alone',
    contract: imageContracts.list,
    columns: [
      { head: 'IMAGE', text: (row) => row.name },
      { head: 'STATE', text: (row) => row.status, paint: (text, row) => paints[row.status](text) },
      { head: 'MIB', text: (row) => (row.sizeBytes === undefined ? '-' : (row.sizeBytes / mib).toFixed(0)) },
      { head: 'USED BY', text: (row) => row.usedBy.join(', ') || '-' },
    ],
    after({ items }) {
      for (const { fix } of items) if (fix !== undefined) session.print(`${style.green('Fix:')} ${fix}\n`);
    },
  });
  addOperation(images, session, {
    name: 'accept',
    about: 'take what a name means now for what commands run with',
    arguments: { '<name>': 'the image, as hotcell images shows it' },
    reach: 'keeps',
    contract: imageContracts.accept,
    show: ({ id = '' }, { name }) => `${style.green('✓')} ${name} is ${id} from now on.\n`,
  });
}
