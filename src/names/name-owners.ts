import type { NameRow, NameTable } from '../store/tables/names.ts';

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

/** What the book is made of. */
export interface NameBookParts {
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
export interface NameBook {
  /** A unit is there. `fileNames` are the words of the config for it, the most exact one first. */
  arrive(path: string, fileNames: readonly string[]): void;
  /** It is decided what becomes of a new unit. */
  settle(path: string): void;
  /** Why a unit cannot have what it wants. The bare name of a tool keeps nobody out. */
  findTaken(path: string, wanted: WantedNames): TakenName | undefined;
  /** Takes what a unit wants, after `findTaken` found nothing; returns the units that must yield, also those that are gone. */
  claim(path: string, wanted: WantedNames): string[];
  /** The unit has none of its names any more but those of its file. */
  yield(path: string): void;
  /** Gives the bare name of a tool to a unit, whoever has it. Throws nothing: who may say so is decided before. */
  assign(name: string, path: string, by: string): void;
  ownerOf(name: string): string | undefined;
  isReserved(name: string): boolean;
  /** False for a unit whose file is gone. */
  isThere(path: string): boolean;
  /** What the config says of a unit in a block that is keyed by files, the most exact key first. */
  findSetting<Value>(path: string, block: Readonly<Record<string, Value>>): Value | undefined;
  /** The shortest key under which the config means this unit. */
  settingKeyOf(path: string): string | undefined;
  /** Rises with every change. */
  readonly revision: number;
}

interface Owner {
  readonly path: string;
  readonly since: number;
}

const filePrefix = 'file:';

/** Opens the book. */
export function createNameBook(parts: NameBookParts): NameBook {
  const { table, reserved = {}, assigned = {} } = parts;
  const owners = new Map<string, Owner>();
  /** Every name that a unit uses, owned or not. */
  const namesByPath = new Map<string, Set<string>>();
  const fileNamesByPath = new Map<string, readonly string[]>();
  const pathsByFileName = new Map<string, Set<string>>();
  const newcomers = new Set<string>();
  let round = 0;
  let revision = 0;
  for (const { name, path, isOwner, since } of table.list()) {
    noteUse(name, path);
    if (isOwner) owners.set(name, { path, since });
    round = Math.max(round, since);
  }

  function namesOf(path: string): Set<string> {
    const known = namesByPath.get(path) ?? new Set();
    namesByPath.set(path, known);
    return known;
  }

  function noteUse(name: string, path: string): void {
    namesOf(path).add(name);
    if (!name.startsWith(filePrefix)) return;
    const paths = pathsByFileName.get(name) ?? new Set();
    pathsByFileName.set(name, paths.add(path));
  }

  /** Another file that is there and is called so by its file name. */
  function findNamesake(name: string, path: string): string | undefined {
    const others = [...(pathsByFileName.get(name) ?? [])].filter((other) => other !== path && parts.isThere(other));
    return others.sort()[0];
  }

  function ownerOf(name: string): string | undefined {
    return Object.hasOwn(reserved, name) ? reserved[name] : owners.get(name)?.path;
  }

  /** Another unit that a name belongs to, and whose file is still there. */
  function findOther(name: string, path: string): string | undefined {
    const owner = ownerOf(name);
    if (owner === undefined || owner === path) return undefined;
    return Object.hasOwn(reserved, name) || parts.isThere(owner) ? owner : undefined;
  }

  /** Both came in one burst: then the first path has the name, whoever was built first. */
  function comesBefore(path: string, name: string): boolean {
    const owner = owners.get(name);
    return (
      owner !== undefined && !Object.hasOwn(reserved, name) && owner.since === round && newcomers.size > 0 && path < owner.path
    );
  }

  function write(rows: readonly NameRow[], removed: readonly Pick<NameRow, 'name' | 'path'>[]): void {
    if (rows.length + removed.length === 0) return;
    revision += 1;
    try {
      table.write(rows, removed);
    } catch (error) {
      // It holds until the end of this run; the next one decides anew.
      parts.onFault(error);
    }
  }

  /** One change of the book: collected, then written in one step. */
  function edit() {
    const rows = new Map<string, NameRow>();
    const removed = new Map<string, Pick<NameRow, 'name' | 'path'>>();
    const keyOf = (name: string, path: string) => `${name}\n${path}`;
    const put = (name: string, path: string, isOwner: boolean): void => {
      noteUse(name, path);
      if (isOwner) owners.set(name, { path, since: round });
      else if (owners.get(name)?.path === path) owners.delete(name);
      removed.delete(keyOf(name, path));
      rows.set(keyOf(name, path), { name, path, isOwner, since: round });
    };
    const drop = (name: string, path: string): void => {
      namesOf(path).delete(name);
      if (owners.get(name)?.path === path) owners.delete(name);
      rows.delete(keyOf(name, path));
      removed.set(keyOf(name, path), { name, path });
    };
    return {
      put,
      drop,
      /** Takes a name from whoever has it. `isKept`: the other goes on under the versions of its own. */
      take(name: string, path: string, isKept: boolean): void {
        const before = owners.get(name)?.path;
        if (before === path) return;
        if (before !== undefined) {
          if (isKept) put(name, before, false);
          else drop(name, before);
        }
        put(name, path, true);
      },
      end: () =>
        write(
          [...rows.values()].sort((a, b) => Number(a.isOwner) - Number(b.isOwner)),
          [...removed.values()],
        ),
    };
  }

  function tell(change: NameChange): void {
    if (!change.name.startsWith(filePrefix) && !change.name.includes('@')) parts.onChange?.(change);
  }

  function arrive(path: string, fileNames: readonly string[]): void {
    fileNamesByPath.set(path, fileNames);
    // What was claimed in quiet times is older than a burst that begins.
    if (newcomers.size === 0) round += 1;
    newcomers.add(path);
    const change = edit();
    for (const fileName of fileNames) {
      const name = `${filePrefix}${fileName}`;
      if (namesOf(path).has(name)) continue;
      const other = findOther(name, path);
      // Nobody can say which of two files that came at once the config means.
      if (other !== undefined && owners.get(name)?.since === round) change.put(name, other, false);
      if (findNamesake(name, path) === undefined) change.take(name, path, false);
      else change.put(name, path, false);
    }
    change.end();
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
    return !namesOf(path).has(name);
  }

  function findTaken(path: string, { name, tools, version }: WantedNames): TakenName | undefined {
    if (name !== undefined && ownerOf(name) !== path) {
      const owner = findOther(name, path);
      if (owner !== undefined && isAssigned(name, path) !== true && !comesBefore(path, name)) return { name, owner };
      const file = `${filePrefix}${name}`;
      const namesake = namesOf(path).has(file) ? findOther(file, path) : findNamesake(file, path);
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

  function claim(path: string, { name, tools, version }: WantedNames): string[] {
    const own = [...(name === undefined ? [] : [name]), ...tools.map((tool) => `${tool}@${version}`)];
    const wanted = new Set([...own, ...tools]);
    const displaced = new Set<string>();
    const passed: NameChange[] = [];
    const change = edit();
    for (const each of [...namesOf(path)]) if (!wanted.has(each) && !each.startsWith(filePrefix)) change.drop(each, path);
    for (const each of wanted) {
      const owner = ownerOf(each);
      if (owner === path) continue;
      const isBare = !own.includes(each);
      if (isBare && !getsTool(each, path)) {
        if (!namesOf(path).has(each)) change.put(each, path, false);
        continue;
      }
      const other = findOther(each, path);
      const isSaid = isAssigned(each, path) === true;
      if (owner !== undefined && !isBare && !isSaid) displaced.add(owner);
      change.take(each, path, other !== undefined && (isBare || isSaid));
      const isNews = owner !== undefined && (isSaid || other === undefined);
      if (isNews) passed.push({ name: each, from: owner, to: path, by: isSaid ? 'config' : 'daemon' });
    }
    change.end();
    for (const each of passed) tell(each);
    return [...displaced];
  }

  const heldFileNames = (path: string) => (fileNamesByPath.get(path) ?? []).filter((file) => isMeant(path, file));

  return {
    arrive,
    settle(path) {
      newcomers.delete(path);
    },
    findTaken,
    claim,
    yield(path) {
      const change = edit();
      for (const name of [...namesOf(path)]) if (!name.startsWith(filePrefix)) change.drop(name, path);
      change.end();
    },
    assign(name, path, by) {
      const from = ownerOf(name);
      if (from === path) return;
      const change = edit();
      change.take(name, path, true);
      change.end();
      tell({ name, from: from ?? '', to: path, by });
    },
    ownerOf,
    isThere: parts.isThere,
    isReserved: (name) => Object.hasOwn(reserved, name),
    findSetting(path, block) {
      // Asked for every slice of a call: what the config does not name is not looked up.
      const file = fileNamesByPath.get(path)?.find((each) => Object.hasOwn(block, each) && isMeant(path, each));
      return file === undefined ? undefined : block[file];
    },
    settingKeyOf: (path) => heldFileNames(path).at(-1),
    get revision() {
      return revision;
    },
  };
}
