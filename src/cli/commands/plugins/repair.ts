import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { repairContracts } from '../../../operations/contracts/repairs.ts';
import { type RepairState, repairStates } from '../../../repair/repair.ts';
import { exitCodes } from '../../exit-codes.ts';
import { paintRepair, renderRepair, renderRepairs } from '../../render/repair.ts';
import { tame } from '../../render/style.ts';
import type { CliSession } from '../../session.ts';
import { addDefaultList, type ListFlags, withDaemon } from '../command.ts';
import { readLimit } from '../executions.ts';
import { addOperation } from '../operation-command.ts';

interface RepairFlags extends ListFlags {
  readonly plugin?: string;
  readonly state?: RepairState;
  readonly limit?: string;
  readonly reason?: string;
}

/** Adds `hotcell repair …`. */
export function registerRepair(program: Command, session: CliSession): void {
  const repair = program.command('repair');
  const { style, io } = session;
  const onRepair = { argument: ['id', 'id of the repair'], input: (id: string) => ({ id }) } as const;

  addDefaultList(repair, 'list the repairs of failed plugins, newest first')
    .option('--plugin <name>', 'only those of this plugin')
    .option('--state <state>', 'only those in this state, such as proposed')
    .option('--limit <n>', 'how many', '100')
    .action((_options: unknown, command: Command) => {
      const { plugin, state, limit, json, ...flags } = command.optsWithGlobals<RepairFlags>();
      if (state !== undefined && !repairStates.includes(state)) {
        throw new HotcellError('usage-wrong', `Expected --state to be one of ${repairStates.join(', ')}, got "${state}".`);
      }
      return withDaemon(session, flags, async (client) => {
        const asked = {
          limit: readLimit(limit),
          ...(plugin === undefined ? {} : { plugin }),
          ...(state === undefined ? {} : { state }),
        };
        const list = await client.invoke(repairContracts.list, asked);
        if (json) return session.printJson(list);
        session.print(list.total === 0 ? 'No repairs.\n' : renderRepairs(list.items, style, io.columns));
      });
    });

  addOperation(repair, session, {
    ...onRepair,
    verb: 'show',
    contract: repairContracts.get,
    about: 'show one repair: what failed, what was tried, and the difference that it makes',
    show: (view) => renderRepair(view, style),
  });

  addOperation(repair, session, {
    verb: 'start',
    contract: repairContracts.start,
    about: 'repair a failed plugin now; what was tried in vain before is tried again',
    argument: ['plugin', 'name, name@version or path of the plugin'],
    input: (plugin) => ({ plugin, person: true }),
    isDone: ({ state }) => state === 'published' || state === 'applied' || state === 'proposed',
    show: (view) => renderRepair(view, style),
  });

  addOperation(repair, session, {
    ...onRepair,
    verb: 'apply',
    contract: repairContracts.apply,
    about: 'write what a repair proposes or published into the file, while nobody changed it',
    isDone: ({ state }) => state === 'applied',
    show: describeEnd,
  });

  repair
    .command('reject')
    .description('turn a proposal down; the same content is not repaired again by itself')
    .argument('<id>', 'id of the repair')
    .option('--reason <text>', 'why, for those who read the history')
    .option('--json', 'as JSON')
    .action((id: string, _options: unknown, command: Command) => {
      const { reason, json, ...flags } = command.optsWithGlobals<RepairFlags>();
      return withDaemon(session, flags, async (client) => {
        const view = await client.invoke(repairContracts.reject, { id, ...(reason === undefined ? {} : { reason }) });
        if (view.state !== 'rejected') session.exitCode = exitCodes.failed;
        if (json) session.printJson(view);
        else session.print(describeEnd(view));
      });
    });

  addOperation(repair, session, {
    ...onRepair,
    verb: 'rollback',
    contract: repairContracts.rollback,
    about: 'take a repair back, out of service and out of the file; a later edit is never discarded',
    show: describeEnd,
  });

  function describeEnd({ id, plugin, state, reason }: { id: string; plugin: string; state: string; reason: string }): string {
    return `${id} of ${tame(plugin)} is ${paintRepair(state, style)}. ${tame(reason)}\n`;
  }
}
