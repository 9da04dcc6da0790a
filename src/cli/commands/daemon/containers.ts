import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { containerContracts } from '../../../operations/contracts/containers.ts';
import { renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { addDefaultList, type ListFlags, withDaemon } from '../command.ts';

/** Adds `hotcell containers …`. */
export function registerContainers(program: Command, session: CliSession): void {
  const containers = program.command('containers');
  const { style, io } = session;

  addDefaultList(containers, 'list what runs in containers now').action((_options: unknown, command: Command) => {
    const flags = command.optsWithGlobals<ListFlags>();
    return withDaemon(session, flags, async (client) => {
      const list = await client.invoke(containerContracts.list, {});
      if (flags.json) return session.printJson(list);
      if (list.total === 0) return session.print('Nothing runs in a container.\n');
      type Row = (typeof list.items)[number];
      const columns = [
        { head: 'ID', text: (row: Row) => row.id },
        { head: 'COMMAND', text: (row: Row) => row.command ?? '-' },
        { head: 'IMAGE', text: (row: Row) => row.image },
        { head: 'SINCE', text: (row: Row) => row.startedAt },
      ];
      session.print(renderTable(list.items, columns, io.columns));
    });
  });

  containers
    .command('kill')
    .description('end what runs in containers; its calls go on with an error')
    .argument('[id]', 'the execution, as hotcell containers shows it')
    .option('--all', 'all of them')
    .option('--json', 'as JSON')
    .action((id: string | undefined, { all }: { all?: boolean }, command: Command) => {
      if ((id === undefined) !== (all === true)) {
        throw new HotcellError('usage-wrong', 'hotcell containers kill takes the id of one, or --all.');
      }
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemon(session, flags, async (client) => {
        const answer = await client.invoke(containerContracts.kill, id === undefined ? {} : { id });
        if (flags.json) session.printJson(answer);
        else session.print(`${style.green('✓')} ${answer.killed} ended.\n`);
      });
    });
}
