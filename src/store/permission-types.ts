/** What an operator granted to one plugin. `caller` and `session` are set for the scope `session`, `untilMs` for `until`. */
export interface GrantRow {
  readonly id: string;
  readonly unitPath: string;
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
  /** Which units owned the tools that it names when it was given, a JSON object; null for a grant that is older than this. */
  readonly toolOwnersJson: string | null;
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
  touch(unitPath: string, permission: string, atMs: number): void;
  listOf(unitPath: string): { readonly permission: string; readonly lastUsedAtMs: number }[];
  /** Queued. */
  forget(unitPath: string): void;
}

/** A question to a person; see src/permissions/approvals/approval-types.ts. */
export interface ApprovalRow {
  readonly id: string;
  readonly kind: 'grant' | 'call' | 'confirm' | 'hook' | 'mcp' | 'ask';
  readonly askKey: string;
  readonly unitPath: string;
  readonly plugin: string;
  readonly tool: string | null;
  readonly executionId: string | null;
  readonly caller: string | null;
  readonly session: string | null;
  readonly reason: 'permissions' | 'dangerous' | 'hybrid' | 'confirm' | 'hook' | 'mcp' | 'ask';
  readonly question: string;
  readonly argumentsHash: string;
  readonly detailsJson: string;
  readonly status: 'open' | 'approved' | 'denied' | 'expired' | 'withdrawn';
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly answeredAtMs: number | null;
  readonly answeredBy: string | null;
  /** What it was answered with, from the answer to the end of the call. */
  readonly contentJson: string | null;
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
      /** What is kept of the details; all of them when absent. */
      readonly detailsJson?: string;
      readonly contentJson?: string;
    },
  ): boolean;
  /** The call is over: nobody needs what its questions were answered with. */
  forgetContent(executionId: string): void;
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

/** The files of a hook that an operator approved, by their hash; see src/hooks. */
export interface HookApprovalRow {
  /** The real path of the hook's folder. */
  readonly path: string;
  readonly contentHash: string;
  readonly approvedBy: string;
  readonly approvedAtMs: number;
  /** Globs of the tools before whose calls the approved files are asked, none for all tools; absent when they never are. */
  readonly guardedTools?: readonly string[];
}

/** Approvals of hooks, one a folder; everything is written at once. */
export interface HookApprovalTable {
  list(): HookApprovalRow[];
  put(row: HookApprovalRow): void;
  /** False when there was none. */
  remove(path: string): boolean;
}

/** That a unit uses a name of a plugin or a tool, or of its file (`file:weather`); see src/names/name-owners.ts. */
export interface NameRow {
  readonly name: string;
  /** Of the unit. */
  readonly path: string;
  /** At most one unit owns a name. */
  readonly isOwner: boolean;
  /** Counts up: what came later has a higher number. */
  readonly since: number;
}

/** Names with their units; everything is written at once. */
export interface NameTable {
  list(): NameRow[];
  /** Removes, then writes, in one step: owners last. */
  write(rows: readonly NameRow[], removed: readonly Pick<NameRow, 'name' | 'path'>[]): void;
}

/** What of a plugin was written last through a door, and by whom. */
export interface WrittenFileRow {
  /** The real path of the file. */
  readonly path: string;
  /** Of its content: other content is of another hand. */
  readonly sha256: string;
  /** The caller id. */
  readonly writtenBy: string;
}

/** Files that others than the operator wrote, one row a file; everything is written at once. */
export interface WrittenFileTable {
  list(): WrittenFileRow[];
  put(row: WrittenFileRow): void;
}
