import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { type AuditEntry, auditContracts } from '../../../operations/contracts/access/audit.ts';
import { formatTime } from '../../render/format.ts';
import { renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { type ListFlags, withDaemon } from '../command.ts';

interface AuditFlags extends ListFlags {
  readonly plugin?: string;
  readonly caller?: string;
  readonly tool?: string;
  readonly execution?: string;
  readonly denied?: boolean;
  readonly allowed?: boolean;
  readonly limit?: string;
}

/** Adds `hotcell audit`. */
export function registerAudit(program: Command, session: CliSession): void {
  const { style, io } = session;
  program
    .command('audit')
    .option('--plugin <name>', 'only of this plugin')
    .option('--caller <id>', 'only of this caller')
    .option('--tool <name>', 'only of this tool')
    .option('--execution <id>', 'only of this call')
    .option('--denied', 'only what was refused')
    .option('--allowed', 'only what was allowed')
    .option('--limit <n>', 'how many', '50')
    .option('--json', 'as JSON')
    .action((_options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<AuditFlags>();
      const query = readQuery(flags);
      return withDaemon(session, flags, async (client) => {
        const list = await client.invoke(auditContracts.list, query);
        if (flags.json) return session.printJson(list);
        if (list.items.length === 0) return session.print('Nothing.\n');
        const columns = [
          { head: 'TIME', text: (row: AuditEntry) => formatTime(row.at) },
          { head: 'ALLOWED', text: (row: AuditEntry) => (row.allowed ? 'yes' : 'no'), paint: paintAllowed },
          { head: 'PLUGIN', text: (row: AuditEntry) => row.plugin ?? '-' },
          { head: 'TOOL', text: (row: AuditEntry) => row.tool ?? '-' },
          { head: 'CALLER', text: (row: AuditEntry) => row.caller },
          { head: 'EXECUTION', text: (row: AuditEntry) => row.execution ?? '-' },
          { head: 'PERMISSION', text: (row: AuditEntry) => `${row.permission} ${row.detail}` },
        ];
        session.print(renderTable(list.items, columns, io.columns));
      });
    });

  function paintAllowed(text: string, row: AuditEntry): string {
    return row.allowed ? style.green(text) : style.red(text);
  }
}

function readQuery({ plugin, caller, tool, execution, denied, allowed, limit = '' }: AuditFlags) {
  if (denied && allowed) throw new HotcellError('usage-wrong', 'Expected only one of --denied and --allowed.');
  const count = /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > 1000) {
    throw new HotcellError('usage-wrong', `Expected --limit to be a number from 1 to 1000, got "${limit.slice(0, 64)}".`);
  }
  return {
    limit: count,
    ...(plugin === undefined ? {} : { plugin }),
    ...(caller === undefined ? {} : { caller }),
    ...(tool === undefined ? {} : { tool }),
    ...(execution === undefined ? {} : { execution }),
    ...(denied === true || allowed === true ? { allowed: allowed === true } : {}),
  };
}
