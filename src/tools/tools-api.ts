import type { ServedUnit } from '../units/unit.ts';
import type { ToolEntry } from './tool-types.ts';

/** All tools that can be called now, keyed `name@version`. Reads are cheap: the registry is memory. */
export interface ToolRegistry {
  /**
   * Puts the tools of one unit in place of those it had, atomically. Throws `tool-duplicate` (naming both files) and
   * changes nothing when a `name@version` belongs to another unit.
   */
  publish(served: ServedUnit): void;
  /** Takes the tools of one unit out. */
  withdraw(path: string): void;
  /**
   * `name` (the highest version, prereleases last), `name@1.2.3` or `name@^1`; throws `tool-unknown` with near names. What
   * `sees` does not let through is unknown, also among the near names.
   */
  resolve(ref: string, sees?: (entry: ToolEntry) => boolean): ToolEntry;
  list(): readonly ToolEntry[];
}
