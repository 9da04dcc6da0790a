import type { Config } from '../../config/config-types.ts';
import { globMatches } from '../../permissions/matching.ts';
import { nameFromFile } from './entry-names.ts';

/** What of the config decides whether a plugin is looked into at all. */
export type LoadPolicy = Pick<Config, 'safe'> & Partial<Pick<Config, 'pluginAllowList' | 'pluginDenyList'>>;

/**
 * Why a file or folder must not be loaded, or undefined. Decided by its name alone, before any of its code is compiled or
 * evaluated: the name that a plugin gives itself proves nothing. Entries are file names with or without ending; `*` stands
 * for any text, the deny list wins, and an empty allow list allows all.
 */
export function refuseLoading(fileName: string, policy: LoadPolicy): string | undefined {
  const { safe, pluginAllowList = [], pluginDenyList = [] } = policy;
  if (safe) return 'safe mode loads no plugin';
  const names = [fileName, nameFromFile(fileName)];
  const isNamed = (list: readonly string[]) => list.some((entry) => names.some((name) => globMatches(entry, name)));
  if (isNamed(pluginDenyList)) return 'pluginDenyList names it';
  return pluginAllowList.length > 0 && !isNamed(pluginAllowList) ? 'pluginAllowList does not name it' : undefined;
}
