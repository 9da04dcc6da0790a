import type { Command } from 'commander';
import type { CliSession } from '../../session.ts';
import { addCommand } from '../command.ts';

/** Adds `hotcell config …`; none of it needs a daemon. */
export function registerConfig(program: Command, session: CliSession): void {
  const config = program.command('config');

  addCommand(config, {
    name: 'show',
    isDefault: true,
    about: 'show what a start here would use, as JSON, without secrets',
    run: async (flags) => {
      const { hideConfigValues } = await import('../../../operations/handlers/config.ts');
      session.printJson(hideConfigValues(await session.readConfig(flags)));
    },
  });

  addCommand(config, {
    name: 'schema',
    about: 'print the JSON Schema of the config file',
    json: false,
    run: async () => session.printJson((await import('../../../config/schema.ts')).describeConfigSchema()),
  });

  addCommand(config, {
    name: 'check',
    about: 'say whether the config file, the environment and the flags are valid',
    run: async ({ json, ...flags }) => {
      const config = await session.readConfig(flags);
      // Folders are looked at, too: a start refuses those that are not there or that the daemon lives from.
      (await import('../../../capabilities/files/mounts.ts')).createMounts(config);
      const { configFile } = config;
      if (json) session.printJson({ ok: true, configFile: configFile ?? null });
      else session.print(`${session.style.green('✓')} ${configFile ?? 'no config file, the defaults'}: valid\n`);
    },
  });
}
