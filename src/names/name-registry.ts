import type { NameTable } from '../store/tables/names.ts';
import { filePrefix, OwnedNames } from './owned-names.ts';

/** The names that a build of a unit wants. */
export interface WantedNames {
  /** What it calls itself; absent for units of the daemon, whose names nobody else can have. */
  readonly name?: string;
  readonly tools: readonly string[];
  readonly version: string;
}

/** A name that a unit cannot have, and the unit that has it. */
export interface TakenName {
  readonly name: string;
  /** The path of the owner; that of the unit itself where it names something twice. */
  readonly owner: string;
}

/** A name that went to another unit. */
export interface NameChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** Who decided it; `daemon` where the file of the owner is gone. */
  readonly by: string;
}

/** What the registry is made of. */
export interface NameRegistryParts {
  readonly table: NameTable;
  /** Names that belong to units of the daemon whether these are switched on or not, with the paths of the units. */
  readonly reserved?: Readonly<Record<string, string>>;
  /** `toolOwners` of the config: which file has the bare name of a tool. */
  readonly assigned?: Readonly<Record<string, string>>;
  /** False for a unit whose file is gone for good: what it owns may go to the next who wants it. */
  readonly isThere: (path: string) => boolean;
  readonly onChange?: (change: NameChange) => void;
  readonly onFault: (error: unknown) => void;
}

/**
 * Who had a name first, kept over restarts. A unit is its file; a name of a plugin or a tool belongs to the unit that had it
 * first for as long as its file is there, whether it serves or not, and whoever came second stays second until an operator
 * says otherwise. Of units that are new at the same time the first path counts.
 */
export type NameRegistry = ReturnType<typeof createNameRegistry>;

/** Opens the registry of names. */
export function createNameRegistry(parts: NameRegistryParts) {
  const { reserved = {}, assigned = {} } = parts;
  const names = new OwnedNames(parts.table, parts.onFault);
  const fileNamesByPath = new Map<string, readonly string[]>();
  const newcomers = new Set<string>();

  /** Another file that is there and is called so by its file name. */
  function findNamesake(name: string, path: string): string | undefined {
    const others = names.pathsOf(name).filter((other) => other !== path && parts.isThere(other));
    return others.sort()[0];
  }

  /** The path of the unit that a name belongs to. */
  function ownerOf(name: string): string | undefined {
    return Object.hasOwn(reserved, name) ? reserved[name] : names.ownerOf(name)?.path;
  }

  /** Another unit that a name belongs to, and whose file is still there. */
  function findOther(name: string, path: string): string | undefined {
    const owner = ownerOf(name);
    if (owner === undefined || owner === path) return undefined;
    return Object.hasOwn(reserved, name) || parts.isThere(owner) ? owner : undefined;
  }

  /** Both came in one burst: then the first path has the name, whoever was built first. */
  function comesBefore(path: string, name: string): boolean {
    const owner = Object.hasOwn(reserved, name) ? undefined : names.ownerOf(name);
    return owner !== undefined && owner.since === names.round && newcomers.size > 0 && path < owner.path;
  }

  function tell(change: NameChange): void {
    if (!change.name.startsWith(filePrefix) && !change.name.includes('@')) parts.onChange?.(change);
  }

  /** A unit is there. `fileNames` are the words of the config for it, the most exact one first. */
  function arrive(path: string, fileNames: readonly string[]): void {
    fileNamesByPath.set(path, fileNames);
    // What was claimed in quiet times is older than a burst that begins.
    if (newcomers.size === 0) names.round += 1;
    newcomers.add(path);
    names.change((change) => {
      for (const fileName of fileNames) {
        const name = `${filePrefix}${fileName}`;
        if (names.namesOf(path).has(name)) continue;
        const other = findOther(name, path);
        // Nobody can say which of two files that came at once the config means.
        if (other !== undefined && names.ownerOf(name)?.since === names.round) change.put(name, other, false);
        if (findNamesake(name, path) === undefined) change.take(name, path, false);
        else change.put(name, path, false);
      }
    });
  }

  function isMeant(path: string, file: string): boolean {
    return fileNamesByPath.get(path)?.includes(file) === true && ownerOf(`${filePrefix}${file}`) === path;
  }

  function isAssigned(name: string, path: string): boolean | undefined {
    const file = Object.hasOwn(assigned, name) ? assigned[name] : undefined;
    return file === undefined ? undefined : isMeant(path, file);
  }

  /** Whether a unit gets the bare name of a tool that it defines. */
  function getsTool(name: string, path: string): boolean {
    if (Object.hasOwn(reserved, name)) return reserved[name] === path;
    const said = isAssigned(name, path);
    if (said !== undefined) return said;
    if (ownerOf(name) === path) return true;
    if (findOther(name, path) !== undefined) return comesBefore(path, name);
    return !names.namesOf(path).has(name);
  }

  /** Why a unit cannot have what it wants. The bare name of a tool keeps nobody out. */
  function findTaken(path: string, { name, tools, version }: WantedNames): TakenName | undefined {
    if (name !== undefined && ownerOf(name) !== path) {
      const owner = findOther(name, path);
      if (owner !== undefined && isAssigned(name, path) !== true && !comesBefore(path, name)) return { name, owner };
      const file = `${filePrefix}${name}`;
      const namesake = names.namesOf(path).has(file) ? findOther(file, path) : findNamesake(file, path);
      if (namesake !== undefined) return { name, owner: namesake };
    }
    const seen = new Set<string>();
    for (const tool of tools) {
      const key = `${tool}@${version}`;
      if (seen.has(key)) return { name: key, owner: path };
      seen.add(key);
      const owner = findOther(key, path);
      if (owner !== undefined && !comesBefore(path, key) && ownerOf(tool) !== path) return { name: key, owner };
    }
    return undefined;
  }

  /** Takes what a unit wants, after `findTaken` found nothing; returns the units that must yield, also those that are gone. */
  function claim(path: string, { name, tools, version }: WantedNames): string[] {
    const own = [...(name === undefined ? [] : [name]), ...tools.map((tool) => `${tool}@${version}`)];
    const wanted = new Set([...own, ...tools]);
    const displaced = new Set<string>();
    const passed: NameChange[] = [];
    names.change((change) => {
      for (const each of [...names.namesOf(path)]) if (!wanted.has(each) && !each.startsWith(filePrefix)) change.drop(each, path);
      for (const each of wanted) {
        const owner = ownerOf(each);
        if (owner === path) continue;
        const isBare = !own.includes(each);
        if (isBare && !getsTool(each, path)) {
          if (!names.namesOf(path).has(each)) change.put(each, path, false);
          continue;
        }
        const other = findOther(each, path);
        const isSaid = isAssigned(each, path) === true;
        if (owner !== undefined && !isBare && !isSaid) displaced.add(owner);
        change.take(each, path, other !== undefined && (isBare || isSaid));
        const isNews = owner !== undefined && (isSaid || other === undefined);
        if (isNews) passed.push({ name: each, from: owner, to: path, by: isSaid ? 'config' : 'daemon' });
      }
    });
    for (const each of passed) tell(each);
    return [...displaced];
  }

  const heldFileNames = (path: string) => (fileNamesByPath.get(path) ?? []).filter((file) => isMeant(path, file));

  return {
    arrive,
    /** Says that what becomes of a new unit is decided. */
    settle: (path: string): void => void newcomers.delete(path),
    findTaken,
    claim,
    /** The unit has none of its names any more but those of its file. */
    yield(path: string): void {
      names.change(({ drop }) => {
        for (const name of [...names.namesOf(path)]) if (!name.startsWith(filePrefix)) drop(name, path);
      });
    },
    /** Gives the bare name of a tool to a unit, whoever has it. Throws nothing: who may say so is decided before. */
    assign(name: string, path: string, by: string): void {
      const from = ownerOf(name);
      if (from === path) return;
      names.change(({ take }) => take(name, path, true));
      tell({ name, from: from ?? '', to: path, by });
    },
    ownerOf,
    /** False for a unit whose file is gone. */
    isThere: parts.isThere,
    isReserved: (name: string): boolean => Object.hasOwn(reserved, name),
    /** What the config says of a unit in a block that is keyed by files, the most exact key first. */
    findSetting<Value>(path: string, block: Readonly<Record<string, Value>>): Value | undefined {
      // Asked for every slice of a call: what the config does not name is not looked up.
      const file = fileNamesByPath.get(path)?.find((each) => Object.hasOwn(block, each) && isMeant(path, each));
      return file === undefined ? undefined : block[file];
    },
    /** The shortest key under which the config means this unit. */
    settingKeyOf: (path: string): string | undefined => heldFileNames(path).at(-1),
    /** Rises with every change. */
    get revision(): number {
      return names.revision;
    },
  };
}
