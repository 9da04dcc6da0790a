import type { Config } from '../config/config-types.ts';
import { loadConfig } from '../config/read/load.ts';
import type { CliFlags } from '../config/read/sources.ts';
import { parsePermissions } from '../permissions/parse.ts';
import type { CliIo } from './io.ts';

/** The configuration of a command line, from flags, environment and file. Read by those commands alone that need it. */
export function readConfig(flags: CliFlags, { env, cwd }: Pick<CliIo, 'env' | 'cwd'>): Config {
  return loadConfig({ flags, env, cwd, parsePermissions });
}
