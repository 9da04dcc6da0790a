import type { CapabilityUser } from '../../src/border/capability-user.ts';
import type { PermissionSet } from '../../src/config/permission-set.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';

/** One noted use: permission, detail, allowed. */
export type NotedUse = readonly [permission: string, detail: string, allowed: boolean];

/** A user of capabilities with a grant that a test may replace, and the uses it noted. */
export interface TestUser extends CapabilityUser {
  readonly uses: NotedUse[];
  grant(block: unknown): void;
}

/** A running call of the plugin `weather` with what `block` grants. */
export function createUser(block: unknown = {}, facts: { plugin?: string; caller?: string } = {}): TestUser {
  let granted: PermissionSet = readGrant(block);
  const uses: NotedUse[] = [];
  return {
    executionId: 'exe_1',
    plugin: facts.plugin ?? 'weather',
    tool: facts.plugin ?? 'weather',
    unitPath: `/plugins/${facts.plugin ?? 'weather'}.ts`,
    chain: [`${facts.plugin ?? 'weather'}@0.0.0`],
    holdClock: () => () => {},
    caller: facts.caller ?? 'local',
    session: 'default',
    granted: () => granted,
    noteUse: (permission, detail, allowed) => uses.push([permission, detail, allowed]),
    uses,
    grant: (next) => {
      granted = readGrant(next);
    },
  };
}

function readGrant(block: unknown): PermissionSet {
  const parsed = parsePermissions(block);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.permissions;
}
