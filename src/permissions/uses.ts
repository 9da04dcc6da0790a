import { OnceAMinute } from '../collections/once-a-minute.ts';
import { type ListedPermission, listedPermissions, type PermissionSet } from '../config/permission-set.ts';
import type { Store } from '../store/store-types.ts';
import { describePermissions } from './decision.ts';
import { globMatches, hostMatches, pathMatches } from './matching.ts';

/** What of its grants a plugin uses. */
export interface GrantUsage {
  /** Permissions that were used in the last 30 days, with the time of the last use. */
  readonly used: readonly { readonly permission: string; readonly lastUsedAtMs: number }[];
  /** Granted entries that nobody ever used, as words. */
  readonly neverUsed: readonly string[];
}

const shownMs = 30 * 24 * 3_600_000;

/** Notes and tells which granted permissions are used. */
export type PermissionUses = ReturnType<typeof createPermissionUses>;

/** Creates the notes of uses; they are kept to the minute, so that a busy plugin costs no writes. */
export function createPermissionUses(store: Pick<Store, 'permissionUses'>, now: () => number) {
  const { permissionUses: table } = store;
  const notedUses = new OnceAMinute();

  return {
    /** Notes one allowed use. `detail` is what the capability told: a host with its port, a path. */
    note(unitPath: string, granted: PermissionSet, permission: string, detail: string): void {
      const word = findWord(granted, permission, detail);
      if (word === undefined) return;
      const atMs = now();
      if (notedUses.isDue(`${unitPath}\n${word}`, atMs)) table.touch(unitPath, word, atMs);
    },
    describe(unitPath: string, granted: PermissionSet): GrantUsage {
      const rows = table.listOf(unitPath);
      const everUsed = new Set(rows.map(({ permission }) => permission));
      const sinceMs = now() - shownMs;
      return {
        used: rows.filter(({ lastUsedAtMs }) => lastUsedAtMs >= sinceMs),
        neverUsed: listWords(granted).filter((word) => !everUsed.has(word)),
      };
    },
    forget(unitPath: string): void {
      for (const use of notedUses.keys()) if (use.startsWith(`${unitPath}\n`)) notedUses.delete(use);
      table.forget(unitPath);
    },
  };
}

/** Whether an entry stands behind a use. Of the others no use is told. */
const matchersByKey: Readonly<Partial<Record<ListedPermission, (entry: string, detail: string) => boolean>>> = {
  net(entry, detail) {
    const colon = detail.lastIndexOf(':');
    return hostMatches(entry, detail.slice(0, colon), Number(detail.slice(colon + 1)));
  },
  read: pathMatches,
  write: pathMatches,
  env: (entry, name) => entry === name,
  run: (entry, command) => entry === command,
  // A tool is noted as name or as name@version.
  tools: (glob, name) => globMatches(glob, name.split('@', 1)[0] ?? name),
  engine: (entry, name) => entry === name,
};
const notedKeys = listedPermissions.filter((key) => Object.hasOwn(matchersByKey, key));

/** The granted entry behind a use, so that what a guest makes up cannot fill the table. */
function findWord(granted: PermissionSet, permission: string, detail: string): string | undefined {
  if (permission === 'kv') return detail === 'shared' ? 'kv=shared' : 'kv';
  if (permission === 'llm') return granted.llm === undefined ? undefined : 'llm';
  if (permission === 'sharedCell') return granted.sharedCell ? 'sharedCell' : undefined;
  const key = notedKeys.find((each) => each === permission);
  if (key === undefined) return undefined;
  const entry = granted[key]?.find((each) => matchersByKey[key]?.(each, detail));
  return entry && describePermissions({ [key]: [entry] });
}

/** The words of a granted set, as `findWord` spells them. */
function listWords(granted: PermissionSet): string[] {
  const { kv, llm, sharedCell } = granted;
  const isKvShared = typeof kv === 'object' && kv.shared === true;
  return [
    ...notedKeys.flatMap((key) => (granted[key] ?? []).map((entry) => describePermissions({ [key]: [entry] }))),
    ...(llm === undefined ? [] : ['llm']),
    ...(kv === undefined ? [] : [isKvShared ? 'kv=shared' : 'kv']),
    ...(sharedCell ? ['sharedCell'] : []),
  ];
}
