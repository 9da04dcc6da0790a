import type { PermissionSet } from '../config/permission-set.ts';
import { isAnothers, type ToolOwners } from '../names/tool-owners.ts';
import type { GrantRow } from '../store/tables/access/grants.ts';
import { joinPermissions } from './decision.ts';

/** A build of a plugin, as far as grants belong to it. */
export interface GrantSubject {
  readonly unitPath: string;
  readonly contentHash: string;
  readonly author: 'operator' | 'caller' | 'model' | 'repair';
}

/** The call that wants to use something. */
export interface GrantUse {
  readonly executionId: string;
  readonly caller: string;
  readonly session: string;
}

/** A stored grant with its permissions read. */
export interface Grant extends Omit<GrantRow, 'permissionsJson' | 'toolOwnersJson'> {
  readonly permissions: PermissionSet;
  readonly toolOwners: ToolOwners;
}

/**
 * Whether a grant holds for a build now. It belongs to one file, whatever that calls itself: a copy does not have it. One
 * for once holds for the call it was spent on, one for a session only for that session of that caller; without a call both
 * hold for nobody.
 */
export function holdsFor(grant: Grant, subject: GrantSubject, use: GrantUse | undefined, nowMs: number): boolean {
  if (grant.revokedAtMs !== null) return false;
  if (grant.unitPath !== subject.unitPath) return false;
  switch (grant.scope) {
    case 'always':
      return true;
    case 'until':
      return grant.untilMs !== null && nowMs < grant.untilMs;
    case 'session':
      return use !== undefined && grant.session === use.session && grant.caller === use.caller;
    case 'once':
      return use !== undefined && grant.usedBy === use.executionId;
  }
}

/**
 * Everything that the grants that hold give to a build. An operator's own edit keeps them; a build of anybody else has
 * `env`, `run`, `dangerous` and `engine` only from a grant that was given for that very content. A tool that a grant names is that
 * of the unit which owned the name then: `ownerOf` says who does now.
 */
export function joinGrants(
  grants: readonly Grant[],
  subject: GrantSubject,
  ownerOf: (tool: string) => string | undefined,
): PermissionSet {
  let joined: PermissionSet = {};
  for (const { permissions: given, contentHash, toolOwners } of grants) {
    const tools = given.tools?.filter((tool) => !isAnothers(toolOwners, tool, ownerOf(tool)));
    const permissions = tools === undefined ? given : { ...given, tools };
    const isKnown = subject.author === 'operator' || contentHash === subject.contentHash;
    joined = joinPermissions(joined, isKnown ? permissions : withoutSecrets(permissions));
  }
  return joined;
}

/** A set without what a build of an unknown hand must not have. */
export function withoutSecrets(set: PermissionSet): PermissionSet {
  const { env: _env, run: _run, dangerous: _dangerous, engine: _engine, ...rest } = set;
  return rest;
}
