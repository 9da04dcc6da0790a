import semver from 'semver';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { findNearNames } from '../../errors/near-names.ts';
import { nameOf, type PluginRecord } from './plugin-record.ts';
import { listNames } from './views.ts';

/** Finds a plugin by name, `name@version`, file name or path; of several versions the highest. Throws `plugin-unknown`. */
export function findPlugin<Item extends { readonly record: PluginRecord }>(items: readonly Item[], name: string): Item {
  const wanted = name.startsWith('./') ? name.slice(2) : name;
  const matches = items
    .map((item) => ({ item, rank: listNames(item.record).indexOf(wanted) }))
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => a.rank - b.rank || semver.rcompare(versionOf(a.item.record), versionOf(b.item.record)));
  const [best] = matches;
  if (best) return best.item;
  const shown = name.slice(0, 200);
  const near = findNearNames(
    shown,
    items.map((item) => nameOf(item.record)),
  );
  const meant = near.length === 0 ? '' : ` Did you mean ${near.map((other) => `"${other}"`).join(' or ')}?`;
  throw new HotcellError('plugin-unknown', `There is no plugin "${shown}".${meant}`, { facts: { name: shown, near } });
}

function versionOf(record: PluginRecord): string {
  const version = (record.live?.generation ?? record.chosen)?.manifest.version;
  return semver.valid(version) ?? '0.0.0';
}
