import type { Command } from 'commander';
import { imageContracts } from '../../../operations/contracts/images.ts';
import type { CliSession } from '../../session.ts';
import { addListing, addOperation } from '../command.ts';

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
