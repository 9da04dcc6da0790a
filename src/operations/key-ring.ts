import { hash, randomBytes } from 'node:crypto';
import type { KeyRow, Store } from '../store/store-types.ts';
import type { Caller } from '../tools/tool-types.ts';

/** A new key: `key` is shown once and never kept. */
export interface CreatedKey {
  readonly row: KeyRow;
  readonly key: string;
}

/** The API keys. Lookups are memory, so that checking one does not make the store commit. */
export interface KeyRing {
  create(request: { readonly name: string; readonly role: Caller['role'] }): CreatedKey;
  list(): KeyRow[];
  /** False when there is no such key, or it was revoked before. Holds from the next request on. */
  revoke(id: string): boolean;
  /** Who uses a key with this SHA-256 (hex), if it is valid; notes the use. */
  find(secretHash: string): Caller | undefined;
}

// The time of the last use is for people: one write a minute is enough.
const touchEveryMs = 60_000;

/** Reads the keys from the store and keeps them in memory. */
export function createKeyRing(parts: { readonly store: Store; readonly now: () => number }): KeyRing {
  const { store, now } = parts;
  const activeByHash = new Map<string, { caller: Caller; touchedAtMs: number }>();
  for (const row of store.keys.list()) {
    if (row.revokedAtMs === null) remember(row);
  }

  function remember(row: KeyRow): void {
    activeByHash.set(row.secretHash, {
      caller: Object.freeze({ id: row.id, role: row.role }),
      touchedAtMs: row.lastUsedAtMs ?? 0,
    });
  }

  return {
    create({ name, role }) {
      const key = `hck_${randomBytes(32).toString('base64url')}`;
      const row: KeyRow = {
        id: `key_${randomBytes(8).toString('hex')}`,
        name,
        role,
        secretHash: hashSecret(key),
        createdAtMs: now(),
        lastUsedAtMs: null,
        revokedAtMs: null,
      };
      store.keys.insert(row);
      remember(row);
      return { row, key };
    },
    list: () => store.keys.list(),
    revoke(id) {
      for (const [secretHash, entry] of activeByHash) {
        if (entry.caller.id === id) activeByHash.delete(secretHash);
      }
      return store.keys.revoke(id, now());
    },
    find(secretHash) {
      const entry = activeByHash.get(secretHash);
      if (entry === undefined) return undefined;
      const atMs = now();
      if (atMs - entry.touchedAtMs >= touchEveryMs) {
        entry.touchedAtMs = atMs;
        store.keys.touch(entry.caller.id, atMs);
      }
      return entry.caller;
    },
  };
}

/** SHA-256 of a token or key, hex. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
