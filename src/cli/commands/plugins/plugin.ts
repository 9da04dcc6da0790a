import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { pluginContracts } from '../../../operations/contracts/plugins.ts';
import { pluginStates } from '../../../plugins/plugin-types.ts';
import type { ReloadResult } from '../../../plugins/supervisor-types.ts';
import { exitCodes } from '../../exit-codes.ts';
import { renderDiagnostic } from '../../render/error.ts';
import { describePlugin, paintState, renderCheck, renderPlugin } from '../../render/plugin.ts';
import { type Style, tame } from '../../render/style.ts';
import { formatDuration, formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, addCommand, addListing, addOperation, withDaemon } from '../command.ts';
import { registerPluginLogs } from './plugin-logs.ts';
import { registerPluginNew } from './plugin-new.ts';
import { registerPluginTest } from './plugin-test.ts';

const onPlugin = { arguments: { '<name>': 'name, name@version or path of the plugin' } } as const;

/** Adds `hotcell plugin …`. */
export function registerPlugin(program: Command, session: CliSession): void {
  const plugin = program.command('plugin');
  const { style, io } = session;

  addListing(plugin, session, {
    name: 'list',
    isDefault: true,
    about: 'list the plugins with their states',
    options: { '--state <state>': { about: 'only those in this state', choices: pluginStates } },
    contract: pluginContracts.list,
    empty: ({ state }) => (state === undefined ? 'No plugins. Make one: hotcell plugin new NAME\n' : `No plugin is ${state}.\n`),
    columns: [
      { head: 'NAME', text: (row) => row.name, paint: style.bold },
      { head: 'VERSION', text: (row) => row.version },
      { head: 'STATE', text: (row) => row.state, paint: (text) => paintState(text, style) },
      { head: 'GEN', text: (row) => String(row.generation ?? '-') },
      { head: 'TOOLS', text: (row) => String(row.tools.length) },
      { head: 'PATH', text: (row) => row.path },
      { head: 'ABOUT', text: describePlugin },
    ],
    after({ passedOver = [] }) {
      for (const { reason } of passedOver) session.note(`${style.yellow('!')} ${tame(reason)}\n`);
    },
  });

  addOperation(plugin, session, {
    ...onPlugin,
    name: 'info',
    about: 'show one plugin',
    contract: pluginContracts.get,
    show: (view) => renderPlugin(view, style),
  });

  registerPluginNew(plugin, session);

  addCommand(plugin, {
    name: 'reload',
    about: 'reload one plugin, or all; the exit code tells the truth',
    arguments: { '[name]': 'name, name@version or path of the plugin' },
    options: { '--all': 'reload every plugin' },
    run: ({ name, all, json, ...flags }) => {
      if ((name === undefined) === (all !== true)) {
        throw new HotcellError('usage-wrong', `Expected a name or --all, got ${all ? 'both' : 'neither'}.`);
      }
      return withDaemon(session, flags, (client) =>
        name === undefined ? reloadAll(client, json) : reloadOne(client, name, json),
      );
    },
  });

  for (const enabled of [true, false]) {
    addOperation(plugin, session, {
      ...onPlugin,
      name: enabled ? 'enable' : 'disable',
      about: `${enabled ? 'enable' : 'disable'} one plugin, also over restarts`,
      contract: pluginContracts.update,
      input: ({ name }) => ({ name, enabled }),
      show: (view) => `${style.green('✓')} ${view.name} is ${view.state}.\n`,
    });
  }

  addOperation(plugin, session, {
    name: 'check',
    about: 'build a text as a plugin and say what would come of it; nothing is saved',
    arguments: {
      '<name>': 'the plugin, or the name of a new file',
      '[file]': 'where the text is; standard input when left out',
    },
    reach: 'alone',
    contract: pluginContracts.check,
    input: async ({ name, file }) => ({ name, text: file === undefined ? await io.readStdin() : readText(file) }),
    isDone: ({ ok }) => ok,
    show: (check) => renderCheck(check, style),
  });

  addClientCommand(plugin, session, {
    name: 'remove',
    about: 'delete the file or folder of one plugin',
    arguments: onPlugin.arguments,
    options: { '--yes': 'really' },
    run: async ({ name, yes, json }, client) => {
      if (yes !== true) {
        const { path } = await client.invoke(pluginContracts.get, { name });
        throw new HotcellError('usage-wrong', `This would delete ${path} for good.`, {
          fix: `Say so: hotcell plugin remove ${name} --yes`,
        });
      }
      const removed = await client.invoke(pluginContracts.remove, { name });
      if (json) session.printJson(removed);
      else session.print(`${style.green('✓')} ${removed.name} is deleted.\n`);
    },
  });

  addListing(plugin, session, {
    ...onPlugin,
    name: 'history',
    about: 'list the kept generations of one plugin',
    contract: pluginContracts.generations,
    columns: [
      { head: '', text: (row) => (row.current ? '*' : '') },
      { head: 'GEN', text: (row) => String(row.number) },
      { head: 'VERSION', text: (row) => row.version },
      { head: 'AUTHOR', text: (row) => row.author },
      { head: 'MADE', text: (row) => formatTime(row.createdAtMs) },
      { head: 'CONTENT', text: (row) => row.contentHash.slice(0, 12) },
    ],
  });

  addOperation(plugin, session, {
    name: 'rollback',
    about: 'go back to an older generation, until the file changes next',
    arguments: {
      ...onPlugin.arguments,
      '[generation]': {
        about: 'its number; the one before when left out',
        range: [1, 999_999_999],
        fix: ([name = 'NAME']: readonly string[]) => `See hotcell plugin history ${name}.`,
      },
    },
    contract: pluginContracts.rollback,
    show: (result) => renderReload(result, style),
  });

  registerPluginLogs(plugin, session);
  registerPluginTest(plugin, session);

  async function reloadOne(client: Client, name: string, asJson = false): Promise<void> {
    try {
      const result = await client.invoke(pluginContracts.reload, { name });
      if (asJson) session.printJson(result);
      else session.print(renderReload(result, style));
    } catch (error) {
      // The truth about a failed reload is a result too, for whoever asked for JSON.
      if (asJson && error instanceof HotcellError && error.code === 'reload-failed') session.printJson(error.facts);
      throw error;
    }
  }

  async function reloadAll(client: Client, asJson = false): Promise<void> {
    const all = await client.invoke(pluginContracts.reloadAll, {});
    if (all.failed > 0) session.exitCode = exitCodes.failed;
    if (asJson) session.printJson(all);
    else session.print(all.items.map((result) => renderReload(result, style)).join(''));
  }
}

function renderReload({ ok, name, state, changed, generation, durationMs, diagnostic }: ReloadResult, style: Style): string {
  const change = changed ? `generation ${generation ?? '-'}` : 'unchanged';
  const head = `${ok ? style.green('✓') : style.red('✗')} ${name} is ${state}, ${change} (${formatDuration(durationMs)})\n`;
  return diagnostic === undefined ? head : `${head}${renderDiagnostic(diagnostic, style)}`;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new HotcellError('usage-wrong', `"${file}" cannot be read.`, { cause: error, fix: 'Name a file with the text.' });
  }
}
