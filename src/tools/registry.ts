import semver from 'semver';
import { HotcellError } from '../errors/hotcell-error.ts';
import { askForOneOf, findNearNames } from '../errors/near-names.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import type { ServedUnit } from '../units/unit.ts';
import { createOfferingIndex } from './offering-index.ts';
import type { ToolSettings } from './settings/tool-settings.ts';
import { maxRefLength, parseToolRef } from './tool-ref.ts';
import { makeToolEntry, type ToolEntry } from './tool-types.ts';

/** What one publish or withdrawal changed, as `name@version`. */
export interface ToolsChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

const maxCachedRefs = 4096;

/** All tools that can be called now, keyed `name@version`. Reads are cheap: the registry is memory. */
export type ToolRegistry = ReturnType<typeof createToolRegistry>;

/** Creates an empty registry of tools. `onChange` is told after every change that took place; it must not throw. */
export function createToolRegistry(
  options: {
    readonly onChange?: (change: ToolsChange) => void;
    /** Who owns which bare name; without this nobody does, and the highest version answers. */
    readonly names?: Pick<NameRegistry, 'ownerOf' | 'revision'>;
    /** What operators set for single tools; without it every tool is as its unit declares it. */
    readonly settings?: Pick<ToolSettings, 'applyTo'>;
    /** Other names of tools of the daemon itself; a tool of such a name comes first. */
    readonly aliases?: ReadonlyMap<string, string>;
  } = {},
) {
  const { names, settings } = options;
  const offerings = createOfferingIndex(names);
  const entriesByKey = new Map<string, ToolEntry>();
  const keysByUnit = new Map<string, readonly string[]>();
  /** Versions of a name, highest first. */
  const versionsByName = new Map<string, ToolEntry[]>();
  /** Only hits: a caller cannot fill it with names that do not exist. */
  const resolvedRefs = new Map<string, ToolEntry>();
  let listed: readonly ToolEntry[] | undefined;
  let namesRevision = names?.revision;

  function replace(path: string, entries: readonly ToolEntry[]): void {
    const oldKeys = keysByUnit.get(path) ?? [];
    const newKeys = entries.map(keyOf);
    for (const key of oldKeys) remove(key);
    for (const entry of entries) add(entry);
    if (newKeys.length === 0) keysByUnit.delete(path);
    else keysByUnit.set(path, newKeys);
    resolvedRefs.clear();
    listed = undefined;
    if (oldKeys.length + newKeys.length > 0) options.onChange?.(compareKeys(oldKeys, newKeys));
  }

  function remove(key: string): void {
    const entry = entriesByKey.get(key);
    if (entry === undefined) return;
    entriesByKey.delete(key);
    const rest = (versionsByName.get(entry.name) ?? []).filter((other) => other !== entry);
    if (rest.length === 0) versionsByName.delete(entry.name);
    else versionsByName.set(entry.name, rest);
  }

  function add({ isSecond: _was, ...made }: ToolEntry): void {
    const named: ToolEntry = isSecond(made) ? { ...made, isSecond: true } : made;
    const entry = settings?.applyTo(named) ?? named;
    entriesByKey.set(keyOf(entry), entry);
    const versions = versionsByName.get(entry.name) ?? [];
    versionsByName.set(
      entry.name,
      [...versions, entry].sort((a, b) => semver.rcompare(a.version, b.version)),
    );
  }

  function isSecond({ name, served }: Pick<ToolEntry, 'name' | 'served'>): boolean {
    const owner = names?.ownerOf(name);
    return owner !== undefined && owner !== served.unit.path;
  }

  /** Brings the entries in line with who owns which name now. */
  function followNames(): void {
    if (names === undefined || names.revision === namesRevision) return;
    namesRevision = names.revision;
    addAnew([...entriesByKey.values()].filter((entry) => isSecond(entry) !== (entry.isSecond === true)));
  }

  function addAnew(entries: readonly ToolEntry[]): void {
    for (const entry of entries) {
      remove(keyOf(entry));
      add(entry);
    }
    if (entries.length === 0) return;
    resolvedRefs.clear();
    listed = undefined;
  }

  function findByAlias(name: string): ToolEntry[] {
    const meant = options.aliases?.get(name);
    return meant === undefined ? [] : (versionsByName.get(meant) ?? []).filter(({ source }) => source === 'builtin');
  }

  /** A bare name and a range mean the tool of the unit that owns the name; whoever came second is called by its version. */
  function find(ref: string): ToolEntry | undefined {
    const { name, range } = parseToolRef(ref);
    const versions = versionsByName.get(name) ?? findByAlias(name);
    const exact = semver.valid(range);
    if (exact !== null) return versions.find((entry) => semver.eq(entry.version, exact));
    const own = versions.filter((entry) => !entry.isSecond);
    return range === undefined ? pickHighest(own) : own.find((entry) => semver.satisfies(entry.version, range));
  }

  return {
    /** Prompts and resources: they come and go with the tools of their units, and are none of these. */
    offerings,
    /**
     * Puts the tools of one unit in place of those it had, atomically. Throws `tool-duplicate` (naming both files) and
     * changes nothing when a `name@version` belongs to another unit.
     */
    publish(served: ServedUnit): void {
      const { path, manifest } = served.unit;
      const entries = manifest.tools.map((tool) => makeToolEntry(tool, served));
      const own = new Set<string>();
      for (const entry of entries) {
        const key = keyOf(entry);
        const owner = entriesByKey.get(key)?.served.unit.path;
        if (own.has(key)) refuseDuplicate(key, path, path);
        if (owner !== undefined && owner !== path) refuseDuplicate(key, owner, path);
        own.add(key);
      }
      replace(path, entries);
      offerings.replace(path, served);
    },
    /** Takes the tools of one unit out. */
    withdraw(path: string): void {
      offerings.replace(path, undefined);
      if (keysByUnit.has(path)) replace(path, []);
    },
    /**
     * `name` (the highest version, prereleases last), `name@1.2.3` or `name@^1`; throws `tool-unknown` with near names. What
     * `sees` does not let through is unknown, also among the near names.
     */
    resolve(ref: string, sees?: (entry: ToolEntry) => boolean): ToolEntry {
      followNames();
      const known = resolvedRefs.get(ref);
      const entry = known ?? (ref.length <= maxRefLength ? find(ref) : undefined);
      if (entry === undefined || sees?.(entry) === false) {
        throw describeMiss(ref.slice(0, maxRefLength), sees === undefined ? versionsByName : keepSeen(versionsByName, sees));
      }
      if (known !== undefined) return known;
      if (resolvedRefs.size >= maxCachedRefs) resolvedRefs.clear();
      resolvedRefs.set(ref, entry);
      return entry;
    },
    /** The name to which a grant for this ref has to be given: of another name of a built-in its own. */
    nameOf(ref: string): string {
      const { name } = parseToolRef(ref);
      return versionsByName.has(name) ? name : (findByAlias(name)[0]?.name ?? name);
    },
    /** What is set for this tool was changed: it is so from now on. */
    applySettings({ name, served }: ToolEntry): void {
      const { path } = served.unit;
      addAnew((versionsByName.get(name) ?? []).filter((entry) => entry.served.unit.path === path));
    },
    list(): readonly ToolEntry[] {
      followNames();
      listed ??= [...entriesByKey.values()].sort(compareEntries);
      return listed;
    },
  };
}

function keyOf(entry: ToolEntry): string {
  return `${entry.name}@${entry.version}`;
}

/** `versions` is sorted highest first: the first release wins, else the highest prerelease. */
function pickHighest(versions: readonly ToolEntry[]): ToolEntry | undefined {
  return versions.find((entry) => semver.prerelease(entry.version) === null) ?? versions[0];
}

function compareEntries(a: ToolEntry, b: ToolEntry): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return semver.rcompare(a.version, b.version);
}

function compareKeys(oldKeys: readonly string[], newKeys: readonly string[]): ToolsChange {
  return {
    added: newKeys.filter((key) => !oldKeys.includes(key)),
    removed: oldKeys.filter((key) => !newKeys.includes(key)),
    changed: newKeys.filter((key) => oldKeys.includes(key)),
  };
}

function refuseDuplicate(key: string, owner: string, second: string): never {
  const message =
    owner === second
      ? `The plugin ${second} defines the tool "${key}" twice.`
      : `The tool "${key}" of ${second} exists already: it belongs to ${owner}.`;
  throw new HotcellError('tool-duplicate', message, { facts: { tool: key, owner, second } });
}

function keepSeen(
  versionsByName: ReadonlyMap<string, readonly ToolEntry[]>,
  sees: (entry: ToolEntry) => boolean,
): ReadonlyMap<string, readonly ToolEntry[]> {
  const seen = [...versionsByName].map(([name, versions]) => [name, versions.filter(sees)] as const);
  return new Map(seen.filter(([, versions]) => versions.length > 0));
}

function describeMiss(ref: string, versionsByName: ReadonlyMap<string, readonly ToolEntry[]>): HotcellError {
  const { name, range } = parseToolRef(ref);
  const versions = versionsByName.get(name)?.map((entry) => entry.version);
  if (versions !== undefined) {
    const found = versions.slice(0, 10).join(', ');
    if (range === undefined) {
      return new HotcellError(
        'tool-unknown',
        `"${name}" is the name of another plugin or tool, which does not serve it. There is: ${found}.`,
        {
          facts: { ref, versions: versions.slice(0, 10) },
          fix: `Call it by its version, such as ${name}@${versions[0]}, or give it the name: hotcell tool own ${name} FILE.`,
        },
      );
    }
    const readable = semver.validRange(range) === null ? ` "${range}" is neither a version nor a range.` : '';
    return new HotcellError('tool-unknown', `No version of the tool "${name}" fits "${range}".${readable} There is: ${found}.`, {
      facts: { ref, versions: versions.slice(0, 10) },
      fix: `Call "${name}" for the highest version, or name one that exists.`,
    });
  }
  const near = findNearNames(name, versionsByName.keys());
  return new HotcellError('tool-unknown', `There is no tool "${name}".${askForOneOf(near)}`, { facts: { ref, near } });
}
