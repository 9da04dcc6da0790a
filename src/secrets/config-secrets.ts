import { readFileSync } from 'node:fs';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { findNameFault, findValueFault, readBinding } from './binding.ts';
import type { SecretBinding } from './secret-types.ts';

/** A secret of the config: its value, or why there is none. */
export interface ConfigSecret {
  readonly name: string;
  readonly binding: SecretBinding;
  readonly value?: string;
  readonly problem?: string;
}

/**
 * Reads the secrets that the config names. A binding that cannot be read throws `config-invalid`; a value that is not
 * there leaves a secret that cannot be used, so that one missing variable does not keep the daemon down.
 */
export function readConfigSecrets(
  secrets: Config['secrets'],
  env: Readonly<Record<string, string | undefined>>,
): readonly ConfigSecret[] {
  return Object.entries(secrets).map(([name, written]) => {
    const fault = findNameFault(name);
    if (fault !== undefined) throw refuse(name, fault);
    if ((written.env === undefined) === (written.file === undefined)) {
      throw refuse(name, 'needs either env, the variable of its value, or file, the file that holds it');
    }
    const read = readBinding(written);
    if (!read.ok) throw refuse(name, read.reason);
    const { binding } = read;
    const value = written.file === undefined ? env[written.env ?? ''] : readSecretFile(written.file);
    if (value === undefined || value === '') {
      const source =
        written.file === undefined ? `the environment variable ${written.env} is not set` : 'its file cannot be read';
      return { name, binding, problem: `has no value: ${source}` };
    }
    const problem = findValueFault(value, binding);
    return problem === undefined ? { name, binding, value } : { name, binding, problem };
  });
}

/** Files end with a line break that is not meant. */
function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}

function refuse(name: string, reason: string): HotcellError {
  return new HotcellError('config-invalid', `secrets.${name.slice(0, 128)} ${reason}.`);
}
