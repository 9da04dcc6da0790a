import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { Client } from '../../../client/client.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { pluginContracts } from '../../../operations/contracts/plugins.ts';
import { type PluginState, pluginStates } from '../../../plugins/plugin-types.ts';
import type { ReloadResult } from '../../../plugins/supervisor-types.ts';
import { exitCodes } from '../../exit-codes.ts';
import { renderDiagnostic } from '../../render/error.ts';
import { formatDuration, formatTime } from '../../render/format.ts';
import { renderCheck, renderPlugin, renderPlugins } from '../../render/plugin.ts';
import { tame } from '../../render/style.ts';
import { type Column, renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { addDefaultList, type ListFlags, withDaemon, withDaemonOrAlone } from '../command.ts';
import { addOperation } from '../operation-command.ts';
import { registerPluginLogs } from './plugin-logs.ts';
import { registerPluginNew } from './plugin-new.ts';
import { registerPluginTest } from './plugin-test.ts';

interface PluginFlags extends ListFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly state?: PluginState;
}

type Generation = Static<typeof pluginContracts.generations.output>['items'][number];

const pluginArgument = 'name, name@version or path of the plugin';

/** Adds `hotcell plugin …`. */
export function registerPlugin(program: Command, session: CliSession): void {
  const plugin = program.command('plugin');
  const { style, io } = session;

  addDefaultList(plugin, 'list the plugins with their states')
    .option('--state <state>', 'only those in this state')
    .action((_options: unknown, command: Command) => {
      const { state, json, ...flags } = command.optsWithGlobals<PluginFlags>();
      if (state !== undefined && !pluginStates.some((known) => known === state)) {
        throw new HotcellError('usage-wrong', `Expected --state to be one of ${pluginStates.join(', ')}, got "${state}".`);
      }
      return withDaemon(session, flags, async (client) => {
        const list = await client.invoke(pluginContracts.list, state === undefined ? {} : { state });
        if (json) session.printJson(list);
        else {
          session.print(
            list.total > 0
              ? renderPlugins(list.items, style, io.columns)
              : state === undefined
                ? 'No plugins. Make one: hotcell plugin new NAME\n'
                : `No plugin is ${state}.\n`,
          );
          for (const { reason } of list.passedOver ?? []) session.note(`${style.yellow('!')} ${tame(reason)}\n`);
        }
      });
    });

  const onPlugin = { argument: ['name', pluginArgument], input: (name: string) => ({ name }) } as const;
  addOperation(plugin, session, {
    ...onPlugin,
    verb: 'info',
    contract: pluginContracts.get,
    about: 'show one plugin',
    show: (view) => renderPlugin(view, style),
  });

  registerPluginNew(plugin, session);

  plugin
    .command('reload')
    .description('reload one plugin, or all; the exit code tells the truth')
    .argument('[name]', 'name, name@version or path of the plugin')
    .option('--all', 'reload every plugin')
    .option('--json', 'as JSON')
    .action((name: string | undefined, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<PluginFlags>();
      if ((name === undefined) === (flags.all !== true)) throw new HotcellError('usage-wrong', 'Expected a name, or --all.');
      return withDaemon(session, flags, (client) =>
        name === undefined ? reloadAll(client, flags) : reloadOne(client, name, flags),
      );
    });

  for (const enabled of [true, false]) {
    addOperation(plugin, session, {
      ...onPlugin,
      verb: enabled ? 'enable' : 'disable',
      contract: pluginContracts.update,
      about: `${enabled ? 'enable' : 'disable'} one plugin, also over restarts`,
      input: (name) => ({ name, enabled }),
      show: (view) => `${style.green('✓')} ${view.name} is ${view.state}.\n`,
    });
  }

  plugin
    .command('check')
    .description('build a text as a plugin and say what would come of it; nothing is saved')
    .argument('<name>', 'the plugin, or the name of a new file')
    .argument('[file]', 'where the text is; standard input when left out')
    .option('--json', 'as JSON')
    .action((name: string, file: string | undefined, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<PluginFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        const text = file === undefined ? await io.readStdin() : readText(file);
        const check = await client.invoke(pluginContracts.check, { name, text });
        if (!check.ok) session.exitCode = exitCodes.failed;
        if (flags.json) session.printJson(check);
        else session.print(renderCheck(check, style));
      });
    });

  plugin
    .command('remove')
    .description('delete the file or folder of one plugin')
    .argument('<name>', pluginArgument)
    .option('--yes', 'really')
    .option('--json', 'as JSON')
    .action((name: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<PluginFlags>();
      return withDaemon(session, flags, async (client) => {
        if (flags.yes !== true) {
          const { path } = await client.invoke(pluginContracts.get, { name });
          throw new HotcellError('usage-wrong', `This would delete ${path} for good.`, {
            fix: `Say so: hotcell plugin remove ${name} --yes`,
          });
        }
        const removed = await client.invoke(pluginContracts.remove, { name });
        if (flags.json) session.printJson(removed);
        else session.print(`${style.green('✓')} ${removed.name} is deleted.\n`);
      });
    });

  const historyColumns: Column<Generation>[] = [
    { head: '', text: (row) => (row.current ? '*' : '') },
    { head: 'GEN', text: (row) => String(row.number) },
    { head: 'VERSION', text: (row) => row.version },
    { head: 'AUTHOR', text: (row) => row.author },
    { head: 'MADE', text: (row) => formatTime(row.createdAtMs) },
    { head: 'CONTENT', text: (row) => row.contentHash.slice(0, 12) },
  ];
  addOperation(plugin, session, {
    ...onPlugin,
    verb: 'history',
    contract: pluginContracts.generations,
    about: 'list the kept generations of one plugin',
    show: ({ items }) => renderTable(items, historyColumns, io.columns),
  });

  plugin
    .command('rollback')
    .description('go back to an older generation, until the file changes next')
    .argument('<name>', pluginArgument)
    .argument('[generation]', 'its number; the one before when left out')
    .option('--json', 'as JSON')
    .action((name: string, generation: string | undefined, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<PluginFlags>();
      const number = generation === undefined ? {} : { generation: readNumber(generation) };
      return withDaemon(session, flags, async (client) => {
        showReload(await client.invoke(pluginContracts.rollback, { name, ...number }), flags.json === true);
      });
    });

  registerPluginLogs(plugin, session);
  registerPluginTest(plugin, session);

  async function reloadOne(client: Client, name: string, flags: PluginFlags): Promise<void> {
    try {
      showReload(await client.invoke(pluginContracts.reload, { name }), flags.json === true);
    } catch (error) {
      // The truth about a failed reload is a result too, for whoever asked for JSON.
      if (flags.json && error instanceof HotcellError && error.code === 'reload-failed') session.printJson(error.facts);
      throw error;
    }
  }

  async function reloadAll(client: Client, flags: PluginFlags): Promise<void> {
    const all = await client.invoke(pluginContracts.reloadAll, {});
    if (all.failed > 0) session.exitCode = exitCodes.failed;
    if (flags.json) session.printJson(all);
    else for (const result of all.items) showReload(result, false);
  }

  function showReload(result: ReloadResult, asJson: boolean): void {
    if (asJson) {
      session.printJson(result);
      return;
    }
    const change = result.changed ? `generation ${result.generation ?? '-'}` : 'unchanged';
    const mark = result.ok ? style.green('✓') : style.red('✗');
    session.print(`${mark} ${result.name} is ${result.state}, ${change} (${formatDuration(result.durationMs)})\n`);
    if (result.diagnostic !== undefined) session.print(renderDiagnostic(result.diagnostic, style));
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new HotcellError('usage-wrong', `"${file}" cannot be read.`, { cause: error, fix: 'Name a file with the text.' });
  }
}

function readNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new HotcellError('usage-wrong', `Expected the number of a generation, got "${text}".`, {
    fix: 'See hotcell plugin history NAME.',
  });
}
