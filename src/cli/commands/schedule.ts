import type { Command } from 'commander';
import { type ScheduleView, scheduleContracts } from '../../operations/contracts/schedules.ts';
import { tame } from '../render/style.ts';
import type { CliSession } from '../session.ts';
import { addListing, addOperation } from './command.ts';

/** Adds `hotcell schedule …`. */
export function registerSchedule(program: Command, session: CliSession): void {
  const schedule = program.command('schedule');

  addListing(schedule, session, {
    name: 'list',
    about: 'list calls that are made later',
    reach: 'alone',
    contract: scheduleContracts.list,
    empty: 'Nothing is scheduled. Models do it with the tool schedule_task.\n',
    columns: [
      { head: 'ID', text: (row) => tame(row.id) },
      { head: 'NEXT', text: (row) => new Date(row.nextAtMs).toISOString() },
      { head: 'AGAIN', text: sayAgain },
      { head: 'CALLER', text: (row) => tame(row.caller) },
      { head: 'TOOL', text: (row) => tame(row.tool) },
    ],
  });

  addOperation(schedule, session, {
    name: 'cancel',
    about: 'cancel a call that is made later',
    arguments: { '<id>': 'its id' },
    reach: 'keeps',
    contract: scheduleContracts.cancel,
    show: (_answer, { id }) => `${session.style.green('✓')} cancelled: ${tame(id)}\n`,
  });
}

function sayAgain({ time }: ScheduleView): string {
  if ('cron' in time) return tame(time.cron);
  return 'everyMs' in time ? `every ${time.everyMs / 1000} s` : 'once';
}
