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
  readonly permissionUses: PermissionUseTable;
  readonly audit: AuditTable;
  readonly modelUsage: ModelUsageTable;
  readonly approvals: ApprovalTable;
  readonly parkedCalls: ParkedCallTable;
  readonly secrets: SecretTable;
  readonly hookApprovals: HookApprovalTable;
  /**
   * Resolves when everything queued so far is committed; rejects with `storage-full` when the disk is full. Then the
   * writes stay queued and are tried again: whoever gives up on a call updates its row to `error`.
   */
  committed(): Promise<void>;
  /** The same, but for the rows of calls that still run: they may become one write with their end. */
  committedEnds(): Promise<void>;
  /** Commits now, in this turn. Never throws: what fails is told to the waiters and to `onWriteError`. */
  flush(): void;
  /** Commits what is queued and gives the data directory free. */
  close(): void;
}

/** One call, as kept. JSON columns are text here; times are whole epoch ms; `endedAtMs` is null until the call ended. */
export interface ExecutionRow {
  readonly id: string;
  readonly tool: string;
  readonly version: string;
  readonly plugin: string;
  readonly generation: string;
  readonly caller: string;
  readonly session: string;
  readonly status: 'pending' | 'running' | 'success' | 'error' | 'timeout' | 'cancelled';
  readonly argumentsJson: string;
  readonly outputJson: string | null;
  readonly errorJson: string | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly durationMs: number | null;
  readonly attempts: number;
  readonly idempotencyKey: string | null;
  /** The call that made this one through `context.tools.call`. */
  readonly parent: string | null;
  /** What ran it, the last attempt of several; null in rows of older versions. */
  readonly engine: string | null;
}

/** Which executions: those that fit every value. */
export interface ExecutionFilter {
  readonly tool?: string;
  readonly status?: string;
  readonly caller?: string;
  readonly parent?: string;
}

export interface ExecutionTable {
  /** Queued. */
  insert(row: ExecutionRow): void;
  /** Queued: the row is written in its new state; insert and updates of one turn become one write. */
  update(row: ExecutionRow): void;
  get(id: string): ExecutionRow | undefined;
  /** Newest first; `before` is an id (ids sort by time). */
  list(query: ExecutionFilter & { before?: string; limit: number }): ExecutionRow[];
  count(query: ExecutionFilter): number;
  /**
   * After a crash: every pending or running row without a parked call becomes `error` with this error, and idempotency keys
   * whose execution was never written are free again; returns how many rows were ended so.
   */
  interruptUnfinished(errorJson: string, atMs: number): number;
  /**
   * Queued. Keeps the newest `keep` rows, those that have not ended and those that an idempotency key still names. Deletes
   * at most 1000 rows a time, so that no call waits long for it: ask at least every 1000 calls.
   */
  prune(keep: number): void;
}

/** Calls that wait for a person, as far as they are kept over restarts: a row goes with the end of its call. */
export interface ParkedCallTable {
  /** At once, after the record of the call: the row as it is now. `blob` is null for a call that has not begun. */
  put(row: { executionId: string; factsJson: string; blob: Uint8Array | null; parkedAtMs: number }): void;
  /** Queued, so that it is one transaction with the end of the call. */
  remove(executionId: string): void;
  /** At once: what was kept is no longer how the call stands. */
  removeNow(executionId: string): void;
  /** Oldest first, without their blobs. */
  list(): { readonly executionId: string; readonly factsJson: string }[];
  readBlob(executionId: string): Uint8Array | undefined;
}

export interface RecordingTable {
  /** Queued. `blob` is opaque. */
  insert(row: { executionId: string; tool: string; status: string; blob: Uint8Array; createdAtMs: number }): void;
  get(executionId: string): Uint8Array | undefined;
  /** Queued. Of the successful recordings of a tool only the newest `keep` stay. */
  pruneSuccessful(tool: string, keep: number): void;
}

export interface IdempotencyTable {
  /** At once, not queued: claims a key for an execution, or returns the earlier claim. Keys belong to caller and tool. */
  claim(claim: {
    caller: string;
    tool: string;
    key: string;
    argumentsHash: string;
    executionId: string;
    atMs: number;
  }): { readonly claimed: true } | { readonly claimed: false; readonly argumentsHash: string; readonly executionId: string };
  release(caller: string, tool: string, key: string): void;
  /** Forgets claims older than `beforeMs`. */
  prune(beforeMs: number): void;
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
  /** Queued. Keeps the newest `keep`. */
  prune(keep: number): void;
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
}

export interface GenerationTable {
  /** At once. */
  upsert(row: GenerationRow): void;
  /** Newest first. */
  listOf(pluginPath: string): GenerationRow[];
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
}

export interface KeyTable {
  insert(row: KeyRow): void;
  findByHash(secretHash: string): KeyRow | undefined;
  list(): KeyRow[];
  /** False when there is no such key, or it was revoked. */
  setRules(id: string, rulesJson: string): boolean;
  revoke(id: string, atMs: number): boolean;
  /** Queued, and kept to the minute. */
  touch(id: string, atMs: number): void;
}

/** Values of `context.kv`, per plugin and owner (a caller, or `*` for shared). */
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

/** What an operator granted to one plugin. `caller` and `session` are set for the scope `session`, `untilMs` for `until`. */
export interface GrantRow {
  readonly id: string;
  readonly pluginPath: string;
  readonly pluginName: string;
  /** Of the generation that it was given for. */
  readonly contentHash: string;
  readonly permissionsJson: string;
  readonly scope: 'once' | 'session' | 'until' | 'always';
  readonly caller: string | null;
  readonly session: string | null;
  readonly untilMs: number | null;
  readonly grantedBy: string;
  readonly createdAtMs: number;
  /** The execution that a grant for once was spent on. */
  readonly usedBy: string | null;
  readonly revokedAtMs: number | null;
}

/** Grants; everything is written at once, so that a grant or its end is never lost to a crash. */
export interface GrantTable {
  insert(row: GrantRow): void;
  /** Takes back one grant and puts others in its place, in one step. */
  replace(id: string, revokedAtMs: number, rows: readonly GrantRow[]): void;
  spend(id: string, executionId: string): void;
  /** Those that nobody took back, oldest first. */
  listInForce(): GrantRow[];
  /** All, newest first. */
  list(limit: number): GrantRow[];
}

/** A use or a refusal of a permission, or a decision about one; what does not apply is empty. */
export interface AuditRow {
  readonly atMs: number;
  readonly executionId: string;
  readonly caller: string;
  readonly plugin: string;
  readonly tool: string;
  readonly permission: string;
  readonly detail: string;
  readonly allowed: boolean;
}

interface AuditQuery {
  readonly plugin?: string;
  readonly caller?: string;
  readonly tool?: string;
  readonly executionId?: string;
  readonly allowed?: boolean;
}

export interface AuditTable {
  /** Queued. */
  insert(row: AuditRow): void;
  /** Newest first; `before` is an id. */
  list(query: AuditQuery & { readonly before?: number; readonly limit: number }): Array<AuditRow & { readonly id: number }>;
  count(query: AuditQuery): number;
  /** Queued. Keeps the newest `keep`. */
  prune(keep: number): void;
}

/** When which permission of a plugin was used last. */
export interface PermissionUseTable {
  /** Queued. `permission` is a word such as `net=api.example.com`. */
  touch(pluginPath: string, permission: string, atMs: number): void;
  listOf(pluginPath: string): { readonly permission: string; readonly lastUsedAtMs: number }[];
  /** Queued. */
  forget(pluginPath: string): void;
}

/** A question to a person; see src/permissions/approval-types.ts. */
export interface ApprovalRow {
  readonly id: string;
  readonly kind: 'grant' | 'call' | 'confirm' | 'hook';
  readonly askKey: string;
  readonly pluginPath: string;
  readonly plugin: string;
  readonly tool: string | null;
  readonly executionId: string | null;
  readonly caller: string | null;
  readonly session: string | null;
  readonly reason: 'permissions' | 'dangerous' | 'hybrid' | 'confirm' | 'hook';
  readonly question: string;
  readonly argumentsHash: string;
  readonly detailsJson: string;
  readonly status: 'open' | 'approved' | 'denied' | 'expired' | 'withdrawn';
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly answeredAtMs: number | null;
  readonly answeredBy: string | null;
}

/** Questions to people; everything is written at once, so that no question and no answer is lost to a crash. */
export interface ApprovalTable {
  insert(row: ApprovalRow): void;
  /** Ends an open question; false when it was not open any more. */
  settle(
    id: string,
    end: {
      readonly status: Exclude<ApprovalRow['status'], 'open'>;
      readonly answeredAtMs: number;
      readonly answeredBy: string | null;
    },
  ): boolean;
  get(id: string): ApprovalRow | undefined;
  /** The question that holds a key: not one that was withdrawn, and for a grant only one that is open or was denied. */
  findByKey(askKey: string): ApprovalRow | undefined;
  /** Oldest first. */
  listOpen(): ApprovalRow[];
  /** Newest first. */
  list(query: { caller?: string; status?: ApprovalRow['status']; limit: number }): ApprovalRow[];
  count(query: { caller?: string; status?: ApprovalRow['status'] }): number;
  /** Of those that ended only the newest `keep` stay. */
  prune(keep: number): void;
}

/** A secret of the operator. */
export interface SecretRow {
  readonly name: string;
  readonly value: string;
  /** Hosts and header or query parameter. */
  readonly bindingJson: string;
  readonly updatedAtMs: number;
}

/** Secrets; everything is written at once, and what is replaced or removed is overwritten on the disk. */
export interface SecretTable {
  list(): SecretRow[];
  set(row: SecretRow): void;
  /** False when there was none. */
  remove(name: string): boolean;
  /** The key that placeholders are made with; made on first use. */
  placeholderKey(): Uint8Array;
}

/** Whose tokens, on which day: days since 1970-01-01 in UTC. */
export interface ModelUsageKey {
  readonly pluginPath: string;
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

/** The files of a hook that an operator approved, by their hash; see src/hooks. */
export interface HookApprovalRow {
  /** The real path of the hook's folder. */
  readonly path: string;
  readonly contentHash: string;
  readonly approvedBy: string;
  readonly approvedAtMs: number;
}

/** Approvals of hooks, one a folder; everything is written at once. */
export interface HookApprovalTable {
  list(): HookApprovalRow[];
  put(row: HookApprovalRow): void;
  /** False when there was none. */
  remove(path: string): boolean;
}
