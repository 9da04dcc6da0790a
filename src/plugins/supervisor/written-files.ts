import type { WrittenFileTable } from '../../store/tables/plugins/plugins.ts';
import type { Author } from '../../units/unit.ts';

/** Whose work a build is. */
export interface Authorship {
  readonly author: Author;
  readonly writtenBy?: string;
}

/** Who wrote which file of a plugin, as long as the file holds what was written. */
export type WrittenFiles = ReturnType<typeof createWrittenFiles>;

const operators: Authorship = Object.freeze({ author: 'operator' });

/** Opens the notes. What the operator writes needs none: the file system is the operator's. */
export function createWrittenFiles(table: WrittenFileTable, operatorId: string) {
  const rowByPath = new Map(table.list().map((row) => [row.path, row]));
  return {
    /**
     * Before the content is on the disk, so that nobody sees it there as the operator's. `repair` and `model` write for the daemon.
     * Throws when it cannot be kept.
     */
    note(path: string, sha256: string, writtenBy: string): void {
      if (writtenBy === operatorId && !rowByPath.has(path)) return;
      const row = { path, sha256, writtenBy };
      table.put(row);
      rowByPath.set(path, row);
    },
    /** True for a file that a caller wrote at some time. */
    has: (path: string) => rowByPath.has(path),
    /** One file of another hand makes the whole build theirs. */
    authorOf(inputs: readonly { readonly path: string; readonly sha256: string }[]): Authorship {
      for (const { path, sha256 } of rowByPath.size === 0 ? [] : inputs) {
        const row = rowByPath.get(path);
        if (row?.sha256 !== sha256 || row.writtenBy === operatorId) continue;
        const { writtenBy } = row;
        return writtenBy === 'repair' || writtenBy === 'model' ? { author: writtenBy } : { author: 'caller', writtenBy };
      }
      return operators;
    },
  };
}
