import type { Config } from '../../config/config-types.ts';
import { daemonContracts } from '../contracts/daemon.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

const hidden = '(set)';

/** What can be read of the configuration. */
export function createConfigOperations({ config }: OperationParts): Operation[] {
  return [implement(daemonContracts.config, () => ({ config: hideConfigValues(config) }))];
}

/** The configuration without the values that may be secret: only the names in `env` and `plugins` stay. */
export function hideConfigValues(config: Config): Readonly<Record<string, unknown>> {
  return {
    ...config,
    env: hideValues(config.env),
    plugins: Object.fromEntries(Object.entries(config.plugins).map(([name, values]) => [name, hideValues(values)])),
  };
}

function hideValues(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, hidden]));
}
