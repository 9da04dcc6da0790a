import type { Command } from 'commander';
import { pluginContracts } from '../../../operations/contracts/plugins.ts';
import { isNothing } from '../../../permissions/decision.ts';
import { renderDiagnostic } from '../../render/error.ts';
import { formatTime } from '../../render/format.ts';
import { describeNeed, formatPermissions, paintState } from '../../render/plugin.ts';
import { renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { type ListFlags, withDaemon } from '../command.ts';

/** Adds `hotcell why`: how a plugin came to be what it is. */
export function registerWhy(program: Command, session: CliSession): void {
  program
    .command('why')
    .argument('<name>', 'name, name@version or path of the plugin')
    .option('--json', 'as JSON')
    .action(async (name: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      const why = await withDaemon(session, flags, (client) => client.invoke(pluginContracts.why, { name }));
      if (flags.json) return session.printJson(why);
      const { style, io } = session;
      session.print(`${style.bold(why.name)} is ${paintState(why.state, style)}.\n\n`);
      const columns = [
        { head: 'TIME', text: (row: Row) => formatTime(row.atMs) },
        { head: 'FROM', text: (row: Row) => row.from },
        { head: 'TO', text: (row: Row) => row.to },
        { head: 'GEN', text: (row: Row) => String(row.generation ?? '') },
        { head: 'REASON', text: (row: Row) => row.reason },
      ];
      type Row = (typeof why.items)[number];
      session.print(renderTable(why.items, columns, io.columns));
      const { requested, granted, pending, source, waitingGeneration } = why.permissions;
      const facts = [
        [`requested (${source})`, formatPermissions(requested)],
        ['granted', formatPermissions(granted)],
        ['pending', formatPermissions(pending)],
        ['to allow it', describeNeed(why)],
        ['waiting', waitingGeneration === undefined ? undefined : `generation ${waitingGeneration}, until that is granted`],
      ] as const;
      const lines = facts.flatMap(([label, text]) => (text === undefined ? [] : [`${style.dim(label.padEnd(20))} ${text}\n`]));
      const isAsking = !isNothing(requested) || !isNothing(granted);
      if (isAsking) session.print(`\n${lines.join('')}`);
      if (why.diagnostic !== undefined) session.print(`\n${renderDiagnostic(why.diagnostic, style)}`);
    });
}
