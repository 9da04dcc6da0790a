import type { Limits } from './limits.ts';
import type { PermissionSet } from './permission-set.ts';
import type { Settings } from './schema.ts';
import type { Filled } from './settings/filled.ts';
import type { RepairSettings } from './settings/repair-settings.ts';

/** Keys that are something else than the settings with their defaults. */
type Special = 'grants' | 'limits' | 'limitsWithoutGrant' | 'pluginLimits' | 'plugins' | 'repair';

/** The whole configuration, frozen. Paths are absolute. What each key means stands in its schema. */
export interface Config extends Omit<Filled<Settings>, Special> {
  readonly configFile: string | undefined;
  /** True when safeMode is `all`. */
  readonly safe: boolean;
  readonly grants: Readonly<Record<string, PermissionSet>>;
  readonly limits: Partial<Limits>;
  readonly limitsWithoutGrant: Partial<Limits>;
  readonly pluginLimits: Readonly<Record<string, Partial<Limits>>>;
  readonly plugins: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly repair: RepairSettings;
}

/** Tools that an operator prefers where a request has the words of `intent`; the best first. */
export type RoutingRule = Config['skillRoutingRules'][number];

/** Only said, asked of a person, or done. */
export type Escalation = Config['escalation'];

/** A secret as the config names it; its value is read by src/secrets. */
export type SecretSetting = Config['secrets'][string];

/** How native commands run in containers. */
export type DockerSettings = Config['docker'];

/** Names of a config file that is found without being named. */
export const searchedNames: readonly string[] = ['hotcell.config.yaml', 'hotcell.config.yml', 'hotcell.config.json'];
