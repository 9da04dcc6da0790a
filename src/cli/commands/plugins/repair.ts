import type { Command } from 'commander';
import { repairContracts } from '../../../operations/contracts/repairs.ts';
import { repairStates } from '../../../repair/repair.ts';
import { paintRepair, renderRepair } from '../../render/repair.ts';
import { tame } from '../../render/style.ts';
import { formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addListing, addOperation } from '../command.ts';

/** Adds `hotcell repair …`. */
export function registerRepair(program: Command, session: CliSession): void {
  const repair = program.command('repair');
  const { style } = session;
  const onRepair = { arguments: { '<id>': 'id of the repair' } } as const;

  addListing(repair, session, {
    name: 'list',
    isDefault: true,
    about: 'list the repairs of failed plugins, newest first',
    options: {
      '--plugin <name>': 'only those of this plugin',
      '--state <state>': { about: 'only those in this state', choices: repairStates },
      '--limit <n>': { about: 'how many', range: [1, 1000], usual: 100 },
    },
    contract: repairContracts.list,
    empty: 'No repairs.\n',
    columns: [
      { head: 'REPAIR', text: (row) => row.id, paint: style.bold },
      { head: 'TIME', text: (row) => formatTime(row.startedAtMs) },
      { head: 'PLUGIN', text: (row) => tame(row.plugin) },
      { head: 'STATE', text: (row) => row.state, paint: (text) => paintRepair(text, style) },
      { head: 'FAILURE', text: (row) => row.class },
      { head: 'TRIED', text: (row) => String(row.tried) },
      { head: 'ABOUT', text: (row) => tame(row.reason) },
    ],
  });

  addOperation(repair, session, {
    ...onRepair,
    name: 'show',
    contract: repairContracts.get,
    about: 'show one repair: what failed, what was tried, and the difference that it makes',
    show: (view) => renderRepair(view, style),
  });

  addOperation(repair, session, {
    name: 'start',
    about: 'repair a failed plugin now; what was tried in vain before is tried again',
    arguments: { '<plugin>': 'name, name@version or path of the plugin' },
    contract: repairContracts.start,
    input: ({ plugin }) => ({ plugin, person: true }),
    isDone: ({ state }) => state === 'published' || state === 'applied' || state === 'proposed',
    show: (view) => renderRepair(view, style),
  });

  addOperation(repair, session, {
    ...onRepair,
    name: 'apply',
    contract: repairContracts.apply,
    about: 'write what a repair proposes or published into the file, while nobody changed it',
    isDone: ({ state }) => state === 'applied',
    show: describeEnd,
  });

  addOperation(repair, session, {
    name: 'reject',
    about: 'turn a proposal down; the same content is not repaired again by itself',
    arguments: onRepair.arguments,
    options: { '--reason <text>': 'why, for those who read the history' },
    contract: repairContracts.reject,
    isDone: ({ state }) => state === 'rejected',
    show: describeEnd,
  });

  addOperation(repair, session, {
    ...onRepair,
    name: 'rollback',
    contract: repairContracts.rollback,
    about: 'take a repair back, out of service and out of the file; a later edit is never discarded',
    show: describeEnd,
  });

  function describeEnd({ id, plugin, state, reason }: { id: string; plugin: string; state: string; reason: string }): string {
    return `${id} of ${tame(plugin)} is ${paintRepair(state, style)}. ${tame(reason)}\n`;
  }
}
