import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import type { CliFlags } from '../../../config/read/sources.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { makeFolders } from '../../../store/data-dir.ts';
import { findPluginDirs } from '../../find-plugin.ts';
import type { CliSession } from '../../session.ts';
import { pluginTemplate } from '../../templates.ts';

const namePattern = /^[a-z][a-z0-9_-]{0,47}$/;

/** Adds `hotcell plugin new`: writes a plugin to start from. */
export function registerPluginNew(plugin: Command, session: CliSession): void {
  plugin
    .command('new')
    .description('write a new plugin to start from')
    .argument('<name>', 'lowercase letters, digits, - and _')
    .action(async (name: string, _options: unknown, command: Command) => {
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

function writeNew(file: string, shown: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new HotcellError('conflict', `${shown} exists already and is left as it is.`, { fix: 'Choose another name.' });
  }
}
