import type { CapabilityUser } from '../border/capability-user.ts';
import type { PermissionKey } from '../config/permission-set.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import { describeGrantCommand, parsePermissionWords } from '../permissions/permission-words.ts';

/** One use that no grant covers. */
export interface Denial {
  readonly key: PermissionKey;
  /** The entry that would allow it; absent for keys that are not lists. */
  readonly entry?: string;
  /** What was tried, after "may not": `reach api.example.com`. */
  readonly tried: string;
  /** Entries that are granted, for one that may be misspelt: those near it are named. */
  readonly granted?: readonly string[];
}

/** The error for a use that no grant covers: what was tried, and the command that would allow it. Notes the denial. */
export function createDenial(user: CapabilityUser, denial: Denial): HotcellError {
  user.noteUse(denial.key, denial.entry ?? denial.tried, false);
  const { key, entry, tried, granted = [] } = denial;
  const near = suggestNearNames(entry ?? '', granted);
  const fix = describeGrant(user.plugin, key, entry);
  return new HotcellError('permission-denied', `Tool "${user.tool}" may not ${tried}.${near}`, {
    fix: near === '' ? fix : `Correct the name, or: ${fix}`,
    facts: { permission: key, ...(entry === undefined ? {} : { entry }) },
  });
}

/** The sentence that says how an operator allows something. */
export function describeGrant(plugin: string, key: PermissionKey, entry?: string): string {
  const parsed = parsePermissionWords([entry === undefined ? key : `${key}=${entry}`]);
  return `Allow it with: ${describeGrantCommand(plugin, parsed.ok ? parsed.permissions : {})}`;
}
