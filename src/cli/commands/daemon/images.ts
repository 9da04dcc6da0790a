import type { Command } from 'commander';
import { imageContracts } from '../../../operations/contracts/images.ts';
import { renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { addDefaultList, type ListFlags, withDaemonOrAlone } from '../command.ts';

const mib = 1024 * 1024;

/** Adds `hotcell images …`. */
export function registerImages(program: Command, session: CliSession): void {
  const images = program.command('images');
  const { style, io } = session;

  addDefaultList(images, 'list them: which are there, and how to get the others').action(
    (_options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        const list = await client.invoke(imageContracts.list, {});
        if (flags.json) return session.printJson(list);
        type Row = (typeof list.items)[number];
        const paints = { present: style.green, missing: style.dim, changed: style.yellow };
        const columns = [
          { head: 'IMAGE', text: (row: Row) => row.name },
          { head: 'STATE', text: (row: Row) => row.status, paint: (text: string, row: Row) => paints[row.status](text) },
          { head: 'MIB', text: (row: Row) => (row.sizeBytes === undefined ? '-' : (row.sizeBytes / mib).toFixed(0)) },
          { head: 'USED BY', text: (row: Row) => row.usedBy.join(', ') || '-' },
        ];
        session.print(renderTable(list.items, columns, io.columns));
        for (const { fix } of list.items) if (fix !== undefined) session.print(`${style.green('Fix:')} ${fix}\n`);
      });
    },
  );

  images
    .command('accept')
    .description('take what a name means now for what commands run with')
    .argument('<name>', 'the image, as hotcell images shows it')
    .option('--json', 'as JSON')
    .action((name: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const accepted = await client.invoke(imageContracts.accept, { name });
        if (flags.json) session.printJson(accepted);
        else session.print(`${style.green('✓')} ${name} is ${accepted.id ?? ''} from now on.\n`);
      });
    });
}
