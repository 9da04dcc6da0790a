import { HotcellError } from '../../errors/hotcell-error.ts';
import { findNearNames } from '../../errors/near-names.ts';
import { nameFromFile } from '../discovery/entry-names.ts';
import { nameOfPlugin, type PluginRecord } from './plugin-record.ts';

/**
 * Finds a plugin by its path, or by its name, `name@version` or the name of its file. Throws `name-ambiguous` for what several
 * plugins are called, `plugin-unknown` for what none is.
 */
export function findPlugin<Item extends { readonly record: PluginRecord }>(items: readonly Item[], name: string): Item {
  const wanted = name.startsWith('./') ? name.slice(2) : name;
  const atPath = items.find(({ record }) => record.path === wanted || record.shownPath === wanted);
  if (atPath) return atPath;
  const [found, ...others] = items.filter(({ record }) => listNames(record).includes(wanted));
  const shown = name.slice(0, 200);
  if (found && others.length > 0) {
    const choices = [found, ...others].map(({ record }) => record.shownPath).sort();
    throw new HotcellError('name-ambiguous', `"${shown}" is ${choices.join(' and ')}.`, {
      facts: { name: shown, choices },
      fix: `Name the one that is meant by its path, such as ${choices[0]}.`,
    });
  }
  if (found) return found;
  const near = findNearNames(
    shown,
    items.map((item) => nameOfPlugin(item.record)),
  );
  const meant = near.length === 0 ? '' : ` Did you mean ${near.map((other) => `"${other}"`).join(' or ')}?`;
  throw new HotcellError('plugin-unknown', `There is no plugin "${shown}".${meant}`, { facts: { name: shown, near } });
}

function listNames(record: PluginRecord): string[] {
  const own = nameOfPlugin(record);
  const manifest = (record.live?.generation ?? record.chosen ?? record.waiting?.generation)?.manifest;
  const versioned = manifest ? [`${own}@${manifest.version}`] : [];
  return [own, ...versioned, record.source.name, nameFromFile(record.source.name)];
}
