import type { ToolUseTable } from '../store/tables/tools.ts';
import type { ToolEntry } from './tool-types.ts';

/** How often a tool was called, and when last. */
export interface ToolUse {
  readonly calls: number;
  readonly lastUsedAtMs: number;
}

interface Count {
  calls: number;
  lastUsedAtMs: number;
  isWritten: boolean;
}

const writeEveryMs = 5_000;

/** Counts the calls of tools by their unit (its path) and name. A crash may lose the last seconds of it. */
export type ToolUses = ReturnType<typeof createToolUses>;

/** Opens the counts. */
export function createToolUses({ table, now }: { readonly table: ToolUseTable; readonly now: () => number }) {
  const countsByPath = new Map<string, Map<string, Count>>();
  for (const { path, tool, calls, lastUsedAtMs } of table.list()) open(path, tool, { calls, lastUsedAtMs, isWritten: true });
  let timer: NodeJS.Timeout | undefined;

  function open(path: string, tool: string, count: Count): Count {
    const counts = countsByPath.get(path) ?? new Map<string, Count>();
    countsByPath.set(path, counts.set(tool, count));
    return count;
  }

  function find({ name, served }: ToolEntry): Count | undefined {
    return countsByPath.get(served.unit.path)?.get(name);
  }

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const [path, counts] of countsByPath) {
      for (const [tool, count] of counts) {
        if (count.isWritten) continue;
        count.isWritten = true;
        table.put({ path, tool, calls: count.calls, lastUsedAtMs: count.lastUsedAtMs });
      }
    }
  }

  return {
    /** A call was accepted. Costs next to nothing, and must not throw. */
    note(entry: ToolEntry): void {
      const count = find(entry) ?? open(entry.served.unit.path, entry.name, { calls: 0, lastUsedAtMs: 0, isWritten: true });
      count.calls += 1;
      count.lastUsedAtMs = now();
      count.isWritten = false;
      timer ??= setTimeout(write, writeEveryMs).unref();
    },
    useOf: find,
    /** Writes what is not written yet. */
    close: write,
  };
}
