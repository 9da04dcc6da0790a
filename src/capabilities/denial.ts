import type { PermissionKey } from '../config/permission-set.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { CapabilityUser } from './capability.ts';

/** One use that no grant covers. */
export interface Denial {
  readonly key: PermissionKey;
  /** The entry that would allow it; absent for keys that are not lists. */
  readonly entry?: string;
  /** What was tried, after "may not": `reach api.example.com`. */
  readonly tried: string;
}

/** The error for a use that no grant covers: what was tried, and the lines of the config that would allow it. Notes the denial. */
export function createDenial(user: CapabilityUser, denial: Denial): HotcellError {
  user.noteUse(denial.key, denial.entry ?? denial.tried, false);
  return new HotcellError('permission-denied', `Tool "${user.tool}" may not ${denial.tried}.`, {
    fix: describeGrant(user.plugin, denial.key, denial.entry),
    facts: { permission: denial.key, ...(denial.entry === undefined ? {} : { entry: denial.entry }) },
  });
}

/** The sentence that says how an operator allows something. */
export function describeGrant(plugin: string, key: PermissionKey, entry?: string): string {
  const value = entry === undefined ? 'true' : `[${quoteYaml(entry)}]`;
  return `Allow it with grants: { ${quoteYaml(plugin)}: { ${key}: ${value} } } in hotcell.config.yaml, or start with --grant-requested.`;
}

function quoteYaml(text: string): string {
  const isPlain = /^[a-z_][\w./-]*$/i.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
