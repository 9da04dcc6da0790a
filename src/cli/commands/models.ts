import type { Command } from 'commander';
import { modelContracts } from '../../operations/contracts/models.ts';
import { formatTime } from '../render/format.ts';
import { tame } from '../render/style.ts';
import { renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';
import { addDefaultList, type ListFlags, withDaemon } from './command.ts';

/** Adds `hotcell models`. */
export function registerModels(program: Command, session: CliSession): void {
  const models = program.command('models');
  const { style, io } = session;

  addDefaultList(models, 'list the models of the config and the tokens used today').action(
    (_options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemon(session, flags, async (client) => {
        const { items, total } = await client.invoke(modelContracts.list, {});
        const usage = await client.invoke(modelContracts.usage, {});
        if (flags.json) return session.printJson({ items, total, usage });
        if (total === 0) session.print('No models. Name one in the config under models.providers; see hotcell docs models.\n');
        type Model = (typeof items)[number];
        const keyOf = ({ key, hasKey }: Model) => (key === undefined ? 'none' : hasKey ? key : `${key} (no value)`);
        if (total > 0) {
          const columns = [
            { head: 'NAME', text: (row: Model) => row.name, paint: style.bold },
            { head: 'DEFAULT', text: (row: Model) => (row.isDefault ? 'yes' : '') },
            { head: 'MODEL', text: (row: Model) => row.model },
            { head: 'SERVER', text: (row: Model) => row.baseUrl },
            { head: 'KEY', text: keyOf, paint: (text: string, row: Model) => (row.hasKey ? text : style.red(text)) },
          ];
          session.print(renderTable(items, columns, io.columns));
        }
        if (usage.total === 0) return session.print(`\nNo tokens used today.\n`);
        type Row = (typeof usage.items)[number];
        const columns = [
          { head: 'PLUGIN', text: (row: Row) => tame(row.plugin) },
          { head: 'CALLER', text: (row: Row) => tame(row.caller) },
          { head: 'TOKENS', text: (row: Row) => String(row.tokens) },
          { head: 'BUDGET', text: (row: Row) => (row.budget === undefined ? '' : String(row.budget)) },
        ];
        session.print(`\n${renderTable(usage.items, columns, io.columns)}`);
        session.print(style.dim(`Budgets begin anew at ${formatTime(usage.resetsAtMs)}.\n`));
      });
    },
  );
}
