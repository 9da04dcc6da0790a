import type { Command } from 'commander';
import type { CliFlags } from '../../../config/read/sources.ts';
import type { CliSession } from '../../session.ts';
import { addDefaultVerb } from '../command.ts';

/** Adds `hotcell config …`; none of it needs a daemon. */
export function registerConfig(program: Command, session: CliSession): void {
  const config = program.command('config');

  addDefaultVerb(config, 'show', 'show what a start here would use, as JSON, without secrets').action(
    async (_options: unknown, command: Command) => {
      const { hideConfigValues } = await import('../../../operations/handlers/config.ts');
      session.printJson(hideConfigValues(await session.readConfig(command.optsWithGlobals<CliFlags>())));
    },
  );

  config
    .command('schema')
    .description('print the JSON Schema of the config file')
    .action(async () => session.printJson((await import('../../../config/schema.ts')).describeConfigSchema()));

  config
    .command('check')
    .description('say whether the config file, the environment and the flags are valid')
    .option('--json', 'as JSON')
    .action(async (_options: unknown, command: Command) => {
      const { json, ...flags } = command.optsWithGlobals<CliFlags & { json?: boolean }>();
      const { configFile } = await session.readConfig(flags);
      if (json) session.printJson({ ok: true, configFile: configFile ?? null });
      else session.print(`${session.style.green('✓')} ${configFile ?? 'no config file, the defaults'}: valid\n`);
    });
}
