import type { Command } from 'commander';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { keyContracts } from '../../operations/contracts/keys.ts';
import { exitCodes } from '../exit-codes.ts';
import { formatTime } from '../render/plugin.ts';
import { renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';
import { addDefaultList, type ListFlags, withDaemon } from './command.ts';

interface KeyFlags extends ListFlags {
  readonly role?: string;
  readonly name?: string;
}

/** Adds `hotcell key …`. */
export function registerKey(program: Command, session: CliSession): void {
  const key = program.command('key').description('make and revoke API keys');
  const { style, io } = session;

  key
    .command('create')
    .description('make a key; it is shown this once')
    .option('--role <role>', 'caller (may call tools) or admin (may do everything)', 'caller')
    .option('--name <name>', 'what the key is for')
    .option('--json', 'as JSON')
    .action((_options: unknown, command: Command) => {
      const { role, name, json, ...flags } = command.optsWithGlobals<KeyFlags>();
      if (role !== 'admin' && role !== 'caller') {
        throw new HotcellError('usage-wrong', `Expected --role to be admin or caller, got "${role}".`);
      }
      return withDaemon(session, flags, async (client) => {
        const created = await client.invoke(keyContracts.create, { role, ...(name === undefined ? {} : { name }) });
        if (json) return session.printJson(created);
        session.note(style.dim(`${created.id}, role ${created.role}. This is the only time that the key is shown.\n`));
        session.print(`${created.key}\n`);
      });
    });

  addDefaultList(key, 'list the keys, without their secrets').action((_options: unknown, command: Command) => {
    const flags = command.optsWithGlobals<ListFlags>();
    return withDaemon(session, flags, async (client) => {
      const list = await client.invoke(keyContracts.list, {});
      if (flags.json) return session.printJson(list);
      if (list.total === 0) return session.print('No keys. Make one: hotcell key create --name NAME\n');
      type Row = (typeof list.items)[number];
      const columns = [
        { head: 'ID', text: (row: Row) => row.id },
        { head: 'ROLE', text: (row: Row) => row.role },
        { head: 'MADE', text: (row: Row) => formatTime(row.createdAtMs) },
        { head: 'LAST USED', text: (row: Row) => (row.lastUsedAtMs === undefined ? 'never' : formatTime(row.lastUsedAtMs)) },
        { head: 'STATE', text: (row: Row) => (row.revokedAtMs === undefined ? 'valid' : 'revoked') },
        { head: 'NAME', text: (row: Row) => row.name },
      ];
      session.print(renderTable(list.items, columns, io.columns));
    });
  });

  key
    .command('revoke')
    .description('revoke a key at once')
    .argument('<id>', 'its id, as hotcell key list shows it')
    .option('--json', 'as JSON')
    .action((id: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemon(session, flags, async (client) => {
        const answer = await client.invoke(keyContracts.revoke, { id });
        if (!answer.revoked) session.exitCode = exitCodes.failed;
        if (flags.json) session.printJson(answer);
        else session.print(answer.revoked ? `${style.green('✓')} ${id} is revoked.\n` : `There is no valid key ${id}.\n`);
      });
    });
}
