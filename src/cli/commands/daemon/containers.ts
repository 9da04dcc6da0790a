import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { containerContracts } from '../../../operations/contracts/containers.ts';
import type { CliSession } from '../../session.ts';
import { type ListFlags, withDaemon } from '../command.ts';
import { addListing } from '../operation-command.ts';

/** Adds `hotcell containers …`. */
export function registerContainers(program: Command, session: CliSession): void {
  const containers = program.command('containers');
  const { style } = session;

  addListing(containers, session, {
    contract: containerContracts.list,
    about: 'list what runs in containers now',
    input: {},
    empty: 'Nothing runs in a container.\n',
    columns: [
      { head: 'ID', text: (row) => row.id },
      { head: 'COMMAND', text: (row) => row.command ?? '-' },
      { head: 'IMAGE', text: (row) => row.image },
      { head: 'SINCE', text: (row) => row.startedAt },
    ],
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
