import { randomUUID } from 'node:crypto';
import type { PermissionSet } from '../config/permission-set.ts';
import type { EventLog } from '../events/event.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import { findToolOwners, readToolOwners } from '../names/tool-owners.ts';
import type { Store } from '../store/store-types.ts';
import type { GrantRow } from '../store/tables/access/grants.ts';
import { decideGrants, describePermissions, type GrantDecision, isNothing, joinPermissions } from './decision.ts';
import { createExpiry } from './expiry.ts';
import { parsePermissions } from './parse.ts';
import { takeBack } from './permission-words.ts';
import { type Grant, type GrantSubject, type GrantUse, holdsFor, joinGrants, withoutSecrets } from './select-grants.ts';

/** A build that asks for permissions; a generation is one. */
export interface Asking {
  readonly path: string;
  readonly contentHash: string;
  readonly author: GrantSubject['author'];
  /** The key that wrote it, of an author who is not the operator. */
  readonly writtenBy?: string;
  readonly manifest: { readonly name: string; readonly permissions: PermissionSet };
}

/** How long a grant holds. */
export type GrantScope =
  | { readonly scope: 'once' | 'always' }
  | { readonly scope: 'session'; readonly caller: string; readonly session: string }
  | { readonly scope: 'until'; readonly untilMs: number };

interface Granting {
  readonly asking: Asking;
  readonly permissions: PermissionSet;
  readonly scope: GrantScope;
  readonly grantedBy: string;
}

/** What the registry of grants is made of. */
export interface GrantRegistryParts {
  readonly store: Pick<Store, 'grants'>;
  readonly events: Pick<EventLog, 'publish'>;
  /** What the config grants beforehand to the plugin of a file: the same object as long as it is the same. */
  readonly presetOf: (unitPath: string) => PermissionSet | undefined;
  /** What the config gives to every plugin: the same object as long as it is the same. */
  readonly presetOfAll?: () => PermissionSet;
  readonly grantRequested: boolean;
  /** Who owns which tool. */
  readonly names?: Pick<NameRegistry, 'ownerOf' | 'isThere' | 'isReserved' | 'revision'>;
  readonly now: () => number;
  /** Told when time took a grant away. Must not throw. */
  readonly onExpire: () => void;
  readonly onFault: (error: unknown) => void;
}

interface Decisions {
  readonly version: number;
  readonly namesRevision: number | undefined;
  readonly preset: PermissionSet;
  readonly presetOfAll: PermissionSet;
  readonly byGrants: Map<string, GrantDecision>;
}

const maxCachedDecisions = 64;
const none: readonly Grant[] = [];
const nothing: PermissionSet = Object.freeze({});

/** Keeps what operators granted, and decides from it what a build may do. */
export type GrantRegistry = ReturnType<typeof createGrantRegistry>;

/** Opens the registry of grants. */
export function createGrantRegistry(parts: GrantRegistryParts) {
  const { events, names, now } = parts;
  const { grants: table } = parts.store;
  const grantsByPath = new Map<string, Grant[]>();
  const { presetOfAll = () => nothing } = parts;
  const decisionsOf = new WeakMap<Asking, Decisions>();
  const expiry = createExpiry(now, endExpired);
  let version = 0;
  for (const row of table.listInForce()) {
    // A call that held a grant for once died with the daemon before.
    const grant = row.usedBy === null ? readGrant(row) : undefined;
    if (grant !== undefined) add(grant);
  }
  armExpiry();

  function add(grant: Grant): void {
    grantsByPath.set(grant.unitPath, [...(grantsByPath.get(grant.unitPath) ?? none), grant]);
    version += 1;
  }

  function drop(grant: Grant): void {
    const rest = (grantsByPath.get(grant.unitPath) ?? none).filter((other) => other.id !== grant.id);
    if (rest.length === 0) grantsByPath.delete(grant.unitPath);
    else grantsByPath.set(grant.unitPath, rest);
    version += 1;
  }

  function presetOf(unitPath: string): PermissionSet {
    return parts.presetOf(unitPath) ?? nothing;
  }

  function decide(asking: Asking, use?: GrantUse): GrantDecision {
    const grants = grantsByPath.get(asking.path);
    return grants === undefined ? recall(asking, none) : recall(asking, findHolding(asking, grants, use));
  }

  function findHolding(asking: Asking, grants: readonly Grant[], use: GrantUse | undefined): readonly Grant[] {
    const subject = subjectOf(asking);
    if (use !== undefined) for (const grant of grants) if (isUnspent(grant)) spend(grant, use);
    const nowMs = now();
    return (grantsByPath.get(asking.path) ?? none).filter((grant) => holdsFor(grant, subject, use, nowMs));
  }

  function recall(asking: Asking, holding: readonly Grant[]): GrantDecision {
    const decisions = cacheOf(asking);
    const key = holding.map(({ id }) => id).join();
    const known = decisions.byGrants.get(key);
    if (known !== undefined) return known;
    const decision = decideFrom(asking, holding);
    if (decisions.byGrants.size >= maxCachedDecisions) decisions.byGrants.clear();
    decisions.byGrants.set(key, decision);
    return decision;
  }

  function cacheOf(asking: Asking): Decisions {
    const known = decisionsOf.get(asking);
    const preset = presetOf(asking.path);
    const all = presetOfAll();
    const namesRevision = names?.revision;
    const isSame = known?.version === version && known.namesRevision === namesRevision;
    if (isSame && known.preset === preset && known.presetOfAll === all) return known;
    const made = { version, namesRevision, preset, presetOfAll: all, byGrants: new Map<string, GrantDecision>() };
    decisionsOf.set(asking, made);
    return made;
  }

  function decideFrom(asking: Asking, holding: readonly Grant[]): GrantDecision {
    const { manifest, author } = asking;
    const { permissions: requested } = manifest;
    const isOwn = author === 'operator';
    const configured = joinPermissions(presetOf(asking.path), presetOfAll());
    const preset = isOwn ? configured : withoutSecrets(configured);
    const wanted = !parts.grantRequested || isOwn ? preset : joinPermissions(preset, withoutSecrets(requested));
    const stored = joinGrants(holding, subjectOf(asking), (tool) => names?.ownerOf(tool));
    return decideGrants(requested, {
      preset: isNothing(stored) ? wanted : Object.freeze(joinPermissions(wanted, stored)),
      grantRequested: parts.grantRequested && isOwn,
    });
  }

  function spend(grant: Grant, { executionId }: GrantUse): void {
    try {
      table.spend(grant.id, executionId);
      const { unitPath } = grant;
      const rest = (grantsByPath.get(unitPath) ?? none).map((other) =>
        other.id === grant.id ? { ...grant, usedBy: executionId } : other,
      );
      grantsByPath.set(unitPath, rest);
    } catch (error) {
      // What cannot be written down as spent is not given: it could be spent again after a restart.
      parts.onFault(error);
    }
  }

  function tell(action: 'granted' | 'revoked' | 'expired', { pluginName, permissions, scope, id }: Grant, by: string): void {
    const data = { action, grant: id, permissions: describePermissions(permissions), scope, by };
    events.publish('grant-change', { subject: pluginName, data });
  }

  function armExpiry(): void {
    expiry.arm([...grantsByPath.values()].flat().flatMap(({ untilMs }) => untilMs ?? []));
  }

  function endExpired(): void {
    const nowMs = now();
    for (const grant of [...grantsByPath.values()].flat()) {
      if (grant.untilMs === null || grant.untilMs > nowMs) continue;
      drop(grant);
      tell('expired', grant, 'time');
    }
    armExpiry();
    parts.onExpire();
  }

  function takeOne(grant: Grant, rest: PermissionSet, by: string): void {
    const nowMs = now();
    const left = isNothing(rest) ? [] : [{ ...grant, id: newId(), permissions: rest }];
    table.replace(grant.id, nowMs, left.map(toRow));
    drop(grant);
    left.forEach(add);
    tell('revoked', grant, by);
    for (const kept of left) tell('granted', kept, by);
  }

  function revoke(target: { unitPath: string; permissions?: PermissionSet | undefined }, by: string): Grant[] {
    const touched = [...(grantsByPath.get(target.unitPath) ?? none)].flatMap((grant) => {
      const rest = target.permissions === undefined ? nothing : takeBack(grant.permissions, target.permissions);
      if (describePermissions(rest) === describePermissions(grant.permissions)) return [];
      if (grant.usedBy !== null) {
        // The call that spent it loses it; in the database it stays what it was, spent.
        drop(grant);
        return [];
      }
      takeOne(grant, rest, by);
      return [grant];
    });
    armExpiry();
    return touched;
  }

  return {
    /** What a build may do now, within a call when one is given. Cached: the same grants give the same objects. */
    decide,
    /** What the config grants to a plugin. */
    presetOf,
    create({ asking, permissions, scope, grantedBy }: Granting): Grant {
      const grant: Grant = {
        id: newId(),
        unitPath: asking.path,
        pluginName: asking.manifest.name,
        contentHash: asking.contentHash,
        permissions,
        toolOwners: names === undefined ? {} : findToolOwners(permissions.tools ?? [], names),
        scope: scope.scope,
        caller: scope.scope === 'session' ? scope.caller : null,
        session: scope.scope === 'session' ? scope.session : null,
        untilMs: scope.scope === 'until' ? scope.untilMs : null,
        grantedBy,
        createdAtMs: now(),
        usedBy: null,
        revokedAtMs: null,
      };
      table.insert(toRow(grant));
      add(grant);
      armExpiry();
      tell('granted', grant, grantedBy);
      return grant;
    },
    /** Takes back all grants of a plugin, or what of them allows any of `permissions`. Returns those that were touched. */
    revoke,
    /** Takes back everything of a plugin that is gone: another file of that name starts with nothing. Never throws. */
    forget(unitPath: string): void {
      try {
        revoke({ unitPath }, 'removal');
      } catch (error) {
        parts.onFault(error);
        grantsByPath.delete(unitPath);
        version += 1;
      }
    },
    /** In force, oldest first. */
    list: (): Grant[] => [...grantsByPath.values()].flat(),
    /** Also those that were spent, ended or were taken back, newest first. */
    listAll: (limit: number): Grant[] => table.list(limit).flatMap((row) => readGrant(row) ?? []),
    close: (): void => expiry.close(),
  };
}

function subjectOf({ path: unitPath, contentHash, author }: Asking): GrantSubject {
  return { unitPath, contentHash, author };
}

function isUnspent({ scope, usedBy }: Grant): boolean {
  return scope === 'once' && usedBy === null;
}

function newId(): string {
  return `grt_${randomUUID()}`;
}

function toRow({ permissions, toolOwners, ...grant }: Grant): GrantRow {
  return { ...grant, permissionsJson: JSON.stringify(permissions), toolOwnersJson: JSON.stringify(toolOwners) };
}

/** A row that does not say what it grants grants nothing. */
function readGrant({ permissionsJson, toolOwnersJson, ...row }: GrantRow): Grant | undefined {
  try {
    const parsed = parsePermissions(JSON.parse(permissionsJson));
    const toolOwners = readToolOwners(toolOwnersJson);
    return parsed.ok && toolOwners !== undefined ? { ...row, permissions: parsed.permissions, toolOwners } : undefined;
  } catch {
    return undefined;
  }
}
