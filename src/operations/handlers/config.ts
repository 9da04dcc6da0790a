import type { Config } from '../../config/config-types.ts';

const hidden = '(set)';

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
