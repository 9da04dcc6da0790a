/** One repair as it is kept; `failure`, `attempts` and `proposal` are JSON that src/repair writes and reads. */
export interface RepairRow {
  readonly id: string;
  /** The identity of the plugin. */
  readonly path: string;
  readonly plugin: string;
  readonly class: string;
  readonly failureKey: string;
  readonly contentHash: string;
  readonly state: string;
  readonly reason: string;
  readonly author: string | null;
  /** Id of the generation that it published, and the hash of its content. */
  readonly generation: string | null;
  readonly generationHash: string | null;
  readonly failureJson: string;
  readonly attemptsJson: string;
  readonly proposalJson: string | null;
  readonly tokens: number;
  readonly cost: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
}

/** The table of repairs. Every write is committed when it returns. */
export interface RepairTable {
  upsert(row: RepairRow): void;
  get(id: string): RepairRow | undefined;
  /** Newest first; of one plugin when a path is given. */
  list(query: { readonly path?: string; readonly states?: readonly string[]; readonly limit: number }): RepairRow[];
  /** Those with this key of a failure alone, when one is given. */
  count(states: readonly string[], failureKey?: string): number;
  /** Ids of those in a state that began before then, oldest first. */
  listOlder(state: string, beforeMs: number, limit: number): string[];
  /** Tokens and money of repairs that began since then; of one plugin when a path is given. */
  sumSince(sinceMs: number, path?: string): { readonly tokens: number; readonly cost: number };
  /** The plugins that have any. */
  paths(): string[];
  /** Deletes the oldest beyond `keep` that are in none of these states. */
  prune(keep: number, except: readonly string[]): void;
  forget(path: string): void;
}
