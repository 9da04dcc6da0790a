import type { Command } from 'commander';
import { type ScheduleView, scheduleContracts } from '../../operations/contracts/schedules.ts';
import { tame } from '../render/style.ts';
import { renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';
import { type ListFlags, withDaemonOrAlone } from './command.ts';

/** Adds `hotcell schedule …`. */
export function registerSchedule(program: Command, session: CliSession): void {
  const schedule = program.command('schedule');
  const { style, io } = session;

  schedule
    .command('list')
    .description('list calls that are made later')
    .option('--json', 'as JSON')
    .action((_options: unknown, command: Command) => {
      const { json, ...flags } = command.optsWithGlobals<ListFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        const page = await client.invoke(scheduleContracts.list, {});
        if (json) return session.printJson(page);
        if (page.items.length === 0) return session.print('Nothing is scheduled. Models do it with the tool schedule_task.\n');
        const columns = [
          { head: 'ID', text: (row: ScheduleView) => tame(row.id) },
          { head: 'NEXT', text: (row: ScheduleView) => new Date(row.nextAtMs).toISOString() },
          { head: 'AGAIN', text: sayAgain },
          { head: 'CALLER', text: (row: ScheduleView) => tame(row.caller) },
          { head: 'TOOL', text: (row: ScheduleView) => tame(row.tool) },
        ];
        session.print(renderTable(page.items, columns, io.columns));
      });
    });

  schedule
    .command('cancel')
    .description('cancel a call that is made later')
    .argument('<id>', 'its id')
    .option('--json', 'as JSON')
    .action((id: string, _options: unknown, command: Command) => {
      const { json, ...flags } = command.optsWithGlobals<ListFlags>();
      return withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const answer = await client.invoke(scheduleContracts.cancel, { id });
        if (json) session.printJson(answer);
        else session.print(`${style.green('✓')} cancelled: ${tame(id)}\n`);
      });
    });
}

function sayAgain({ time }: ScheduleView): string {
  if ('cron' in time) return tame(time.cron);
  return 'everyMs' in time ? `every ${time.everyMs / 1000} s` : 'once';
}
