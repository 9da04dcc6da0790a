import { hash, randomBytes } from 'node:crypto';
import type { Config } from '../config/config-types.ts';
import { quotas } from '../config/quotas.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import { findToolOwners, readToolOwners } from '../names/tool-owners.ts';
import { operatorId } from '../permissions/approvals/approval-answerer.ts';
import { createExpiry } from '../permissions/expiry.ts';
import type { Store } from '../store/store-types.ts';
import type { KeyRow } from '../store/tables/access/keys.ts';
import type { Caller, CallerRules } from './caller.ts';
import { callerOf, changeRules, type RulesChange, readRules } from './key-rules.ts';

/** A new key: `key` is shown once and never kept. */
export interface CreatedKey {
  readonly row: KeyRow;
  readonly rules: CallerRules;
  readonly key: string;
}

interface WantedKey {
  readonly name: string;
  readonly role: Caller['role'];
  readonly rules?: RulesChange;
  readonly madeBy?: string;
}

interface ActiveKey {
  caller: Caller;
  touchedAtMs: number;
}

// The time of the last use is for people: one write a minute is enough.
const touchEveryMs = 60_000;
const unknownMaker = 'unknown';

/** The API keys. Lookups are memory, so that checking one does not make the store commit. */
export type KeyRing = ReturnType<typeof createKeyRing>;

/** Reads the keys from the store and keeps them in memory. */
export function createKeyRing(parts: {
  readonly store: Pick<Store, 'keys'>;
  readonly now: () => number;
  readonly defaults?: Config['callers'];
  /** Who owns which tool. */
  readonly names?: Pick<NameRegistry, 'ownerOf' | 'isThere' | 'isReserved'>;
}) {
  const { store, now, names, defaults = { ratePerMinute: 0, maxConcurrent: 0 } } = parts;
  const activeByHash = new Map<string, ActiveKey>();
  const activeById = new Map<string, ActiveKey>();
  const watchers = new Set<(id: string, what: 'changed' | 'revoked') => void>();
  const expiry = createExpiry(now, tellExpired);
  let lookedAtMs = now();
  /** Who made which key, also of revoked ones: what they made stays of their line. */
  const makerById = new Map<string, string | null>();
  for (const row of store.keys.list()) {
    makerById.set(row.id, row.madeBy);
    if (row.revokedAtMs === null) remember(row);
  }

  function remember(row: KeyRow): void {
    const toolOwners = readToolOwners(row.toolOwnersJson);
    // Rules that are damaged in part let nobody in, either.
    const rules = readRules(toolOwners === undefined ? '' : row.rulesJson);
    const caller = callerOf({ ...row, toolOwners: toolOwners ?? {} }, rules, defaults);
    const active = { caller, touchedAtMs: row.lastUsedAtMs ?? 0 };
    activeByHash.set(row.secretHash, active);
    activeById.set(row.id, active);
    awaitExpiry();
  }

  /** Whoever listens with a key whose time is over is told nothing more, although nobody asks for anything then. */
  function awaitExpiry(): void {
    const times = [...activeById.values()].flatMap(({ caller }) => caller.expiresAtMs ?? []);
    expiry.arm(watchers.size === 0 ? [] : times.filter((atMs) => atMs > lookedAtMs));
  }

  function tellExpired(): void {
    const atMs = now();
    const over = [...activeById.values()].filter(
      ({ caller: { expiresAtMs = atMs + 1 } }) => expiresAtMs > lookedAtMs && expiresAtMs <= atMs,
    );
    lookedAtMs = atMs;
    for (const { caller } of over) for (const tell of watchers) tell(caller.id, 'changed');
    awaitExpiry();
  }

  function describeOwners({ tools = [] }: CallerRules): string {
    return JSON.stringify(names === undefined ? {} : findToolOwners(tools, names));
  }

  function lineOf(id: string): string {
    // A line may be as long as there are keys.
    for (let first = id; ; ) {
      const madeBy = makerById.get(first);
      if (madeBy === null) return unknownMaker;
      if (madeBy === undefined || !makerById.has(madeBy)) return first;
      first = madeBy;
    }
  }

  /** Whoever makes keys with a key of its own cannot fill the daemon with them. */
  function checkCount(madeBy: string): void {
    if (madeBy === operatorId) return;
    const line = lineOf(madeBy);
    let count = 0;
    for (const id of makerById.keys()) if (lineOf(id) === line) count++;
    const most = quotas['keys.made'].perCaller;
    if (count < most) return;
    const message = `${count} keys come of one that the operator made; ${most} may, revoked ones counted.`;
    throw new HotcellError('rate-limited', message, {
      fix: "Make the key with the operator's own token.",
    });
  }

  function isValid({ caller: { expiresAtMs } }: ActiveKey): boolean {
    return expiresAtMs === undefined || now() < expiresAtMs;
  }

  return {
    /** Throws `body-invalid` for rules that do not fit the role. */
    create({ name, role, rules: wanted = {}, madeBy = operatorId }: WantedKey): CreatedKey {
      checkCount(madeBy);
      const rules = changeRules(role, {}, wanted, now());
      const key = `hck_${randomBytes(32).toString('base64url')}`;
      const row: KeyRow = {
        id: `key_${randomBytes(8).toString('hex')}`,
        name,
        role,
        secretHash: hashSecret(key),
        createdAtMs: now(),
        lastUsedAtMs: null,
        revokedAtMs: null,
        rulesJson: JSON.stringify(rules),
        madeBy,
        toolOwnersJson: describeOwners(rules),
      };
      store.keys.insert(row);
      makerById.set(row.id, madeBy);
      remember(row);
      return { row, rules, key };
    },
    list: (): KeyRow[] => store.keys.list(),
    /**
     * Whether two callers are keys of one line: one made the other, over any number of keys between them, or one key made both.
     * The operator's own token stands above all lines. Keys whose maker is not known count as one line.
     */
    areOfOneLine: (one: string, other: string): boolean =>
      one === other || (makerById.has(one) && makerById.has(other) && lineOf(one) === lineOf(other)),
    /** Changes the rules of a key; they hold from the next request on. Throws `key-unknown` or `body-invalid`. */
    update(id: string, change: RulesChange): KeyRow {
      const row = store.keys.list().find((each) => each.id === id && each.revokedAtMs === null);
      if (row === undefined) throw new HotcellError('key-unknown', `There is no valid key "${id.slice(0, 64)}".`);
      const rules = changeRules(row.role, readRules(row.rulesJson), change, now());
      const toolOwnersJson = change.tools === undefined ? row.toolOwnersJson : describeOwners(rules);
      const changed = { ...row, rulesJson: JSON.stringify(rules), toolOwnersJson };
      store.keys.setRules(id, changed.rulesJson, toolOwnersJson);
      remember(changed);
      for (const tell of watchers) tell(id, 'changed');
      return changed;
    },
    /** False when there is no such key, or it was revoked before. Holds from the next request on. */
    revoke(id: string): boolean {
      activeById.delete(id);
      for (const [secretHash, { caller }] of activeByHash) {
        if (caller.id === id) activeByHash.delete(secretHash);
      }
      const isNew = store.keys.revoke(id, now());
      if (isNew) for (const tell of watchers) tell(id, 'revoked');
      return isNew;
    },
    /** Who uses a key with this SHA-256 (hex), if it is valid; notes the use. */
    find(secretHash: string): Caller | undefined {
      const active = activeByHash.get(secretHash);
      if (active === undefined || !isValid(active)) return undefined;
      const atMs = now();
      if (atMs - active.touchedAtMs >= touchEveryMs) {
        active.touchedAtMs = atMs;
        store.keys.touch(active.caller.id, atMs);
      }
      return active.caller;
    },
    /** Who uses the key with this id, with the rules of now; undefined when it was revoked or has expired. */
    current(id: string): Caller | undefined {
      const active = activeById.get(id);
      return active !== undefined && isValid(active) ? active.caller : undefined;
    },
    /**
     * Calls `told` after a key was changed or revoked, and when its time is over (then it was changed, too), until the returned
     * function is called. It must not throw.
     */
    watch(told: (id: string, what: 'changed' | 'revoked') => void): () => void {
      watchers.add(told);
      awaitExpiry();
      return () => {
        watchers.delete(told);
        if (watchers.size === 0) expiry.close();
      };
    },
  };
}

/** SHA-256 of a token or key, hex. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
