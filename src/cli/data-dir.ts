import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Config } from '../config/config-types.ts';
import { searchedNames } from '../config/config-types.ts';
import type { CliFlags } from '../config/read/sources.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { CliIo } from './io.ts';

/**
 * The data directory of a command line. The config is read only where it may name another: that takes its time, and a
 * broken config must not keep a client from its daemon.
 */
export async function findDataDir(
  flags: CliFlags,
  { env, cwd }: Pick<CliIo, 'env' | 'cwd'>,
  readConfig: (flags: CliFlags) => Promise<Config>,
): Promise<string> {
  const named = flags.data ?? (env.HOTCELL_DATA || undefined);
  if (named !== undefined) return isAbsolute(named) ? named : resolve(cwd, named);
  const usual = resolve(cwd, '.hotcell');
  if ((env.HOTCELL_URL ?? '') !== '') return usual;
  const isConfigNamed = flags.config !== undefined || (env.HOTCELL_CONFIG ?? '') !== '';
  return isConfigNamed || searchedNames.some((name) => mayNameDataDir(join(cwd, name)))
    ? (await readConfig(flags)).dataDir
    : usual;
}

function mayNameDataDir(file: string): boolean {
  try {
    return /dataDir|\\/.test(readFileSync(file, 'utf8'));
  } catch (error) {
    // What is there and cannot be read is for the config to tell.
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}

/** Why there is no daemon to speak to. */
export function describeNoDaemon(dataDir: string, besides = ''): HotcellError {
  return new HotcellError('daemon-unreachable', `No daemon runs here: looked in ${dataDir}${besides}.`, {
    fix: 'Start one with hotcell start, or name the data directory of another with --data DIR, or its address with HOTCELL_URL.',
  });
}
