import type { HotcellError } from '../errors/hotcell-error.ts';
import type { ExecutionTable, IdempotencyTable, ParkedCallTable, RecordingTable } from './execution-types.ts';
import type { LoopTable } from './loop-types.ts';
import type { McpLoginTable, McpPinTable } from './mcp-types.ts';
import type { ModelUseTable } from './model-types.ts';
import type {
  ApprovalTable,
  AuditTable,
  GrantTable,
  HookApprovalTable,
  NameTable,
  PermissionUseTable,
  SecretTable,
  WrittenFileTable,
} from './permission-types.ts';
import type { RepairTable } from './repair-types.ts';
import type { RegisteredToolTable, ScheduleTable, ToolSettingTable, ToolSwitchTable, ToolUseTable } from './tool-rows.ts';

/**
 * The store: SQLite (`node:sqlite`, WAL, synchronous=NORMAL) in `<data>/hotcell.db`. Rows are plain data here; the
 * folders above give them meaning. Writes of the call journey are grouped: `enqueue` puts a write into the next
 * transaction, which is committed once per turn of the event loop; every read sees queued writes (it flushes first).
 */
export interface Store {
  readonly executions: ExecutionTable;
  readonly recordings: RecordingTable;
  readonly idempotency: IdempotencyTable;
  readonly events: EventTable;
  readonly generations: GenerationTable;
  readonly plugins: PluginTable;
  readonly keys: KeyTable;
  readonly kv: KvTable;
  readonly grants: GrantTable;
  readonly names: NameTable;
  readonly permissionUses: PermissionUseTable;
  readonly audit: AuditTable;
  readonly modelUsage: ModelUsageTable;
  readonly modelUses: ModelUseTable;
  readonly approvals: ApprovalTable;
  readonly parkedCalls: ParkedCallTable;
  readonly secrets: SecretTable;
  readonly hookApprovals: HookApprovalTable;
  readonly mcpPins: McpPinTable;
  readonly mcpLogins: McpLoginTable;
  readonly writtenFiles: WrittenFileTable;
  readonly toolSettings: ToolSettingTable;
  readonly toolSwitches: ToolSwitchTable;
  readonly toolUses: ToolUseTable;
  readonly registeredTools: RegisteredToolTable;
  readonly schedules: ScheduleTable;
  readonly keptAnswers: KeptAnswerTable;
  readonly repairs: RepairTable;
  readonly loops: LoopTable;
  /**
   * Resolves when everything queued so far is committed; rejects with `storage-full` when the disk is full. Then the
   * writes stay queued and are tried again: whoever gives up on a call updates its row to `error`.
   */
  committed(): Promise<void>;
  /** The same, but for the rows of calls that still run: they may become one write with their end. */
  committedEnds(): Promise<void>;
  /** Commits now, in this turn. Never throws: what fails is told to the waiters and to `onWriteError`. */
  flush(): void;
  /** Why nothing can be recorded now (disk full, data directory gone); undefined while all is well. Costs next to nothing. */
  problem(): HotcellError | undefined;
  /** Has SQLite look for damage; what it found, undefined when the database is sound. */
  examine(): Promise<string | undefined>;
  /** Commits what is queued and gives the data directory free. */
  close(): void;
}

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly atMs: number;
  readonly caller: string | null;
  readonly subject: string;
  readonly dataJson: string;
}

export interface EventTable {
  /** Queued. */
  insert(row: EventRow): void;
  /** Oldest first. With a caller: its own, and of those of nobody the `publicTypes`. */
  listAfter(
    seq: number,
    query: { caller?: string; types?: readonly string[]; publicTypes?: readonly string[]; limit: number },
  ): EventRow[];
  /** The newest number that was kept or reserved. */
  lastSeq(): number;
  /** Queued. After it is committed no restart gives out a number up to this one again. */
  reserve(upTo: number): void;
  /** Queued. Keeps the newest `keep`, and of these as many as hold no more than `maxBytes`. */
  prune(keep: number, maxBytes: number): void;
}

/** One generation; code, source map and image are files beside the database. */
export interface GenerationRow {
  readonly id: string;
  readonly pluginPath: string;
  readonly number: number;
  readonly author: string;
  readonly engine: string;
  readonly contentHash: string;
  readonly codeHash: string;
  readonly imageHash: string | null;
  /** What the image was made with; an image with another fingerprint is built again. */
  readonly imageFingerprint: string | null;
  readonly manifestJson: string;
  readonly inputsJson: string;
  readonly createdAtMs: number;
  /** The caller id of an author who is not the operator, where it is known. */
  readonly writtenBy: string | null;
}

export interface GenerationTable {
  /** At once. */
  upsert(row: GenerationRow): void;
  /** Newest first; only those with an input of this hash when one is given. */
  listOf(pluginPath: string, inputHash?: string): GenerationRow[];
  get(id: string): GenerationRow | undefined;
  /** The current generation of every plugin in one query (see PluginTable.currentGeneration). */
  listCurrent(): GenerationRow[];
  delete(id: string): void;
}

/** What is remembered of a plugin file over restarts. */
export interface PluginRow {
  readonly path: string;
  readonly name: string;
  readonly state: string;
  readonly enabled: boolean;
  readonly currentGeneration: string | null;
  /** Content hash that a rollback pinned away from: the file's own content stays off until it changes. */
  readonly pinnedAwayFrom: string | null;
  readonly diagnosticJson: string | null;
  readonly transitionsJson: string;
}

export interface PluginTable {
  upsert(row: PluginRow): void;
  get(path: string): PluginRow | undefined;
  list(): PluginRow[];
  delete(path: string): void;
}

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly role: 'admin' | 'caller';
  /** SHA-256 of the secret part, hex. */
  readonly secretHash: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** What the operator laid down for this key, a JSON object. */
  readonly rulesJson: string;
  /** The caller id of who made it; null for a key of the time when that was not written down. */
  readonly madeBy: string | null;
  /** Which units owned the tools that its rules name when they were laid down, a JSON object; null where that is not known. */
  readonly toolOwnersJson: string | null;
}

export interface KeyTable {
  insert(row: KeyRow): void;
  findByHash(secretHash: string): KeyRow | undefined;
  list(): KeyRow[];
  /** False when there is no such key, or it was revoked. */
  setRules(id: string, rulesJson: string, toolOwnersJson: string | null): boolean;
  revoke(id: string, atMs: number): boolean;
  /** Queued, and kept to the minute. */
  touch(id: string, atMs: number): void;
}

/** Values of `context.kv`, per unit (its path) and owner (a caller, or `*` for shared). */
export interface KvTable {
  get(plugin: string, owner: string, key: string): string | undefined;
  /** False when the quota in bytes (keys and values, UTF-8) would be passed; nothing is written then. */
  set(plugin: string, owner: string, key: string, value: string, quotaBytes: number): boolean;
  delete(plugin: string, owner: string, key: string): boolean;
  /** Keys with a prefix in order, after `after`. */
  list(plugin: string, owner: string, query: { prefix: string; after?: string; limit: number }): { key: string; value: string }[];
  usedBytes(plugin: string, owner: string): number;
  /** Deletes what owners whose names begin so keep, in every plugin. */
  forgetOwners(prefix: string): void;
  /** Entries of all owners, or of one, in order of owner and key, after the given one; read as they are asked for. */
  page(
    plugin: string,
    query: { readonly owner?: string; readonly after?: { readonly owner: string; readonly key: string }; readonly limit: number },
  ): Iterable<KvEntry>;
  /** Who has values, and how many bytes. */
  owners(plugin: string): { readonly owner: string; readonly bytes: number }[];
  /** Deletes the keys of one owner that begin so; returns how many. */
  deleteAll(plugin: string, owner: string, prefix: string): number;
}

/** One value with its owner. */
export interface KvEntry {
  readonly owner: string;
  readonly key: string;
  /** JSON text. */
  readonly value: string;
}

/** Whose tokens, on which day: days since 1970-01-01 in UTC. */
export interface ModelUsageKey {
  readonly unitPath: string;
  readonly caller: string;
  readonly day: number;
}

/** Tokens of models by plugin, caller and day; everything is written at once. */
export interface ModelUsageTable {
  /** Adds tokens; false, and nothing is added, when there would be more than the budget. */
  reserve(key: ModelUsageKey, tokens: number, budget: number): boolean;
  /** Corrects a reservation by the difference to what was used; the sum may pass a budget. */
  settle(key: ModelUsageKey, difference: number): void;
  used(key: ModelUsageKey): number;
  /** Most tokens first; with a caller only its own. */
  list(day: number, query: { readonly caller?: string; readonly limit: number }): (ModelUsageKey & { readonly tokens: number })[];
  /** Forgets earlier days. */
  prune(beforeDay: number): void;
}

/** One thing that a later request of the same caller may ask for. */
export interface KeptAnswerRow {
  readonly caller: string;
  readonly key: string;
  readonly value: string;
  readonly atMs: number;
}

export interface KeptAnswerTable {
  /** At once. The oldest of the caller go where it has more than its share, then those of whoever has most. False when it is too long. */
  put(row: KeptAnswerRow): boolean;
  /** At once. False when there is one with this key. */
  claim(row: KeptAnswerRow): boolean;
  get(caller: string, key: string): KeptAnswerRow | undefined;
  /** What is kept for a caller; costs next to nothing. */
  bytes(caller: string): number;
  /** At once. False when there was none. */
  remove(caller: string, key: string): boolean;
  prune(beforeMs: number): void;
}
