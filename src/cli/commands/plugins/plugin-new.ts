import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import type { CliFlags } from '../../../config/read/sources.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { repairContracts } from '../../../operations/contracts/repairs.ts';
import { makeFolders } from '../../../store/data-dir.ts';
import { findPluginDirs } from '../../find-plugin.ts';
import { renderRepair } from '../../render/repair.ts';
import type { CliSession } from '../../session.ts';
import { pluginTemplate } from '../../templates.ts';
import { type ListFlags, withDaemon } from '../command.ts';

interface NewFlags extends ListFlags {
  readonly describe?: string;
}

const namePattern = /^[a-z][a-z0-9_-]{0,47}$/;

/** Adds `hotcell plugin new`: writes a plugin to start from. */
export function registerPluginNew(plugin: Command, session: CliSession): void {
  plugin
    .command('new')
    .description('write a new plugin to start from')
    .argument('<name>', 'lowercase letters, digits, - and _')
    .option('--describe <text>', 'have the model of repair.model write it: it is tried, and waits for you to look at it')
    .option('--json', 'as JSON')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { describe, json, ...flags } = command.optsWithGlobals<NewFlags>();
      if (describe !== undefined) return writeByModel(session, flags, { name, description: describe }, json === true);
      const [folder] = await findPluginDirs(session, command.optsWithGlobals<CliFlags>());
      if (folder === undefined) throw new HotcellError('config-invalid', 'The config names no plugin folder.');
      if (!namePattern.test(name)) {
        throw new HotcellError('usage-wrong', `Expected a name of lowercase letters, digits, - and _, got "${name}".`, {
          fix: 'For example: hotcell plugin new weather_report',
        });
      }
      const file = join(folder, `${name}.ts`);
      const shown = relative(session.io.cwd, file) || file;
      makeFolders(folder);
      writeNew(file, shown, pluginTemplate(name));
      session.print(`${session.style.green('✓')} wrote ${shown}\n  Try it: hotcell call ${name} text="two words"\n`);
    });
}

/** It is a proposal until a person applies it. */
function writeByModel(
  session: CliSession,
  flags: CliFlags,
  wish: { name: string; description: string },
  isJson: boolean,
): Promise<void> {
  return withDaemon(session, flags, async (client) => {
    const repair = await client.invoke(repairContracts.create, wish);
    if (isJson) session.printJson(repair);
    else session.print(renderRepair(repair, session.style));
  });
}

function writeNew(file: string, shown: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new HotcellError('conflict', `${shown} exists already and is left as it is.`, { fix: 'Choose another name.' });
  }
}
