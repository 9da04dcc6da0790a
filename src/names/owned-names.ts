import type { NameRow, NameTable } from '../store/tables/names.ts';

/** Names of files begin so; all others are names of plugins and tools. */
export const filePrefix = 'file:';

/** Who has a name, and since which round of the registry. */
interface Owner {
  readonly path: string;
  readonly since: number;
}

/** Which unit uses which names and which of them it owns, kept over restarts. */
export class OwnedNames {
  readonly #table: NameTable;
  readonly #onFault: (error: unknown) => void;
  readonly #owners = new Map<string, Owner>();
  /** Every name that a unit uses, owned or not. */
  readonly #namesByPath = new Map<string, Set<string>>();
  readonly #pathsByFileName = new Map<string, Set<string>>();
  /** Rises with every burst of new units: names of one round came at the same time. */
  round = 0;
  /** Rises with every change. */
  revision = 0;

  constructor(table: NameTable, onFault: (error: unknown) => void) {
    this.#table = table;
    this.#onFault = onFault;
    for (const { name, path, isOwner, since } of table.list()) {
      this.#noteUse(name, path);
      if (isOwner) this.#owners.set(name, { path, since });
      this.round = Math.max(this.round, since);
    }
  }

  ownerOf(name: string): Owner | undefined {
    return this.#owners.get(name);
  }

  /** The names that a unit uses; it changes with them. */
  namesOf(path: string): Set<string> {
    const known = this.#namesByPath.get(path) ?? new Set();
    this.#namesByPath.set(path, known);
    return known;
  }

  /** All units whose file has this name. */
  pathsOf(fileName: string): string[] {
    return [...(this.#pathsByFileName.get(fileName) ?? [])];
  }

  #noteUse(name: string, path: string): void {
    this.namesOf(path).add(name);
    if (!name.startsWith(filePrefix)) return;
    const paths = this.#pathsByFileName.get(name) ?? new Set();
    this.#pathsByFileName.set(name, paths.add(path));
  }

  /** Makes changes that hold at once, and writes them in one step. */
  change(edit: (change: NameEdit) => void): void {
    const rows = new Map<string, NameRow>();
    const removed = new Map<string, Pick<NameRow, 'name' | 'path'>>();
    const keyOf = (name: string, path: string) => `${name}\n${path}`;
    const put = (name: string, path: string, isOwner: boolean): void => {
      this.#noteUse(name, path);
      if (isOwner) this.#owners.set(name, { path, since: this.round });
      else if (this.#owners.get(name)?.path === path) this.#owners.delete(name);
      removed.delete(keyOf(name, path));
      rows.set(keyOf(name, path), { name, path, isOwner, since: this.round });
    };
    const drop = (name: string, path: string): void => {
      this.namesOf(path).delete(name);
      if (this.#owners.get(name)?.path === path) this.#owners.delete(name);
      rows.delete(keyOf(name, path));
      removed.set(keyOf(name, path), { name, path });
    };
    const take = (name: string, path: string, isKept: boolean): void => {
      const before = this.#owners.get(name)?.path;
      if (before === path) return;
      if (before !== undefined && isKept) put(name, before, false);
      else if (before !== undefined) drop(name, before);
      put(name, path, true);
    };
    edit({ put, drop, take });
    if (rows.size + removed.size === 0) return;
    this.revision += 1;
    try {
      // Owners last: a name has one at most, at any moment.
      this.#table.write(
        [...rows.values()].sort((a, b) => Number(a.isOwner) - Number(b.isOwner)),
        [...removed.values()],
      );
    } catch (error) {
      // The change holds until the end of this run; the next one decides anew.
      this.#onFault(error);
    }
  }
}

/** What one change may do. */
export interface NameEdit {
  /** A unit uses a name, as its owner or not. */
  put(name: string, path: string, isOwner: boolean): void;
  /** A unit uses a name no more. */
  drop(name: string, path: string): void;
  /** Takes a name from whoever has it. `isKept`: the other goes on under the versions of its own. */
  take(name: string, path: string, isKept: boolean): void;
}
