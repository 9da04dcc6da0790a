import type { Command } from 'commander';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { auditContracts } from '../../../operations/contracts/access/audit.ts';
import { formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addListing } from '../command.ts';

/** Adds `hotcell audit`. */
export function registerAudit(program: Command, session: CliSession): void {
  const { style } = session;
  addListing(program, session, {
    name: 'audit',
    options: {
      '--plugin <name>': 'only of this plugin',
      '--caller <id>': 'only of this caller',
      '--tool <name>': 'only of this tool',
      '--execution <id>': 'only of this call',
      '--denied': 'only what was refused',
      '--allowed': 'only what was allowed',
      '--limit <n>': { about: 'how many', range: [1, 1000], usual: 50 },
    },
    contract: auditContracts.list,
    input({ plugin, caller, tool, execution, denied, allowed, limit }) {
      if (denied && allowed) throw new HotcellError('usage-wrong', 'Expected only one of --denied and --allowed, got both.');
      const which = denied || allowed ? allowed === true : undefined;
      return omitUndefined({ limit, plugin, caller, tool, execution, allowed: which });
    },
    empty: 'Nothing.\n',
    columns: [
      { head: 'TIME', text: (row) => formatTime(row.at) },
      {
        head: 'ALLOWED',
        text: (row) => (row.allowed ? 'yes' : 'no'),
        paint: (text, row) => (row.allowed ? style.green(text) : style.red(text)),
      },
      { head: 'PLUGIN', text: (row) => row.plugin ?? '-' },
      { head: 'TOOL', text: (row) => row.tool ?? '-' },
      { head: 'CALLER', text: (row) => row.caller },
      { head: 'EXECUTION', text: (row) => row.execution ?? '-' },
      { head: 'PERMISSION', text: (row) => `${row.permission} ${row.detail}` },
    ],
  });
}
