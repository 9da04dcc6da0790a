import type { Static } from 'typebox';
import type { PermissionSet } from '../../../config/permission-set.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { describePermissions, isNothing } from '../../../permissions/decision.ts';
import type { Asking } from '../../../permissions/grant-registry.ts';
import { type ParsedPermissions, parsePermissions } from '../../../permissions/parse.ts';
import { parsePermissionWords } from '../../../permissions/permission-words.ts';
import type { Grant } from '../../../permissions/select-grants.ts';
import { type GrantView, grantContracts } from '../../contracts/access/grants.ts';
import { pageOfAll } from '../../contracts/paging.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';
import { readGrantScope, requireLastingScope } from './grant-scope.ts';

const keptShown = 1000;

/** What can be done with grants. */
export function createGrantOperations({ units, grants, keys }: OperationParts): Operation[] {
  function findAsking(name: string): Asking {
    const { asking, name: plugin, state } = units.find(name);
    if (asking !== undefined) return asking;
    throw new HotcellError('plugin-not-ready', `Plugin "${plugin}" is ${state}: no build of it asks for anything.`);
  }

  function describeOutcome(name: string) {
    const { asking, name: plugin, state } = units.find(name);
    return { plugin, state, ...(asking === undefined ? { granted: {}, pending: {} } : grants.decide(asking)) };
  }

  return [
    implement(grantContracts.list, ({ plugin, all = false }) => {
      const path = plugin === undefined ? undefined : findAsking(plugin).path;
      const list = all ? grants.listAll(keptShown) : grants.list();
      const nowMs = Date.now();
      const items = list
        .filter((grant) => path === undefined || grant.unitPath === path)
        .map((grant) => viewGrant(grant, nowMs))
        .filter(({ status }) => all || status === 'in-force');
      return pageOfAll(items);
    }),
    implement(grantContracts.standing, ({ plugin }) => describeOutcome(plugin)),
    implement(grantContracts.create, async (input, { caller }) => {
      const asking = findAsking(input.plugin);
      if (asking.writtenBy !== undefined && keys.areOfOneLine(asking.writtenBy, caller.id)) {
        throw new HotcellError(
          'forbidden',
          `A key of the same line wrote this build of "${asking.manifest.name}", so somebody else must allow it.`,
        );
      }
      const permissions = readWanted(input, grants.decide(asking).pending, asking.manifest.name);
      const scope = readGrantScope(input, caller.id);
      requireLastingScope(permissions, scope);
      const grant = grants.create({ asking, permissions, scope, grantedBy: caller.id });
      await units.refreshGrants();
      return { grant: viewGrant(grant, Date.now()), ...describeOutcome(asking.path) };
    }),
    implement(grantContracts.revoke, async ({ plugin, permissions: words }, { caller }) => {
      const { path: unitPath } = findAsking(plugin);
      const permissions = words === undefined || words.length === 0 ? undefined : requireParsed(parsePermissionWords(words));
      const revoked = grants.revoke({ unitPath, permissions }, caller.id);
      await units.refreshGrants();
      const nowMs = Date.now();
      return {
        revoked: revoked.map((grant) => ({ ...viewGrant(grant, nowMs), status: 'revoked' as const, revokedAtMs: nowMs })),
        preset: grants.presetOf(unitPath),
        ...describeOutcome(unitPath),
      };
    }),
  ];
}

type CreateInput = Static<typeof grantContracts.create.input>;

function readWanted({ permissions, requested = false }: CreateInput, pending: PermissionSet, plugin: string): PermissionSet {
  if (requested === (permissions !== undefined)) {
    throw new HotcellError('body-invalid', 'Expected either permissions, or requested: true for all that is pending.');
  }
  const wanted = requested ? pending : requireParsed(parsePermissions(permissions));
  if (!isNothing(wanted)) return wanted;
  const message = requested ? `Nothing is pending for "${plugin}".` : 'The permissions name nothing that could be granted.';
  throw new HotcellError('conflict', message, { fix: `See what it asks for: hotcell plugin info ${plugin}.` });
}

function requireParsed(parsed: ParsedPermissions): PermissionSet {
  if (parsed.ok) return parsed.permissions;
  throw new HotcellError('body-invalid', parsed.message, { fix: 'See hotcell docs permissions for the keys and values.' });
}

function viewGrant(grant: Grant, nowMs: number): GrantView {
  const { id, pluginName, unitPath, permissions, scope, caller, session, untilMs, grantedBy, createdAtMs, revokedAtMs } = grant;
  return {
    id,
    plugin: pluginName,
    path: unitPath,
    permissions,
    words: describePermissions(permissions),
    scope,
    status: statusOf(grant, nowMs),
    ...(caller === null ? {} : { caller }),
    ...(session === null ? {} : { session }),
    ...(untilMs === null ? {} : { untilMs }),
    grantedBy,
    createdAtMs,
    ...(revokedAtMs === null ? {} : { revokedAtMs }),
  };
}

function statusOf({ revokedAtMs, usedBy, untilMs }: Grant, nowMs: number): GrantView['status'] {
  if (revokedAtMs !== null) return 'revoked';
  if (usedBy !== null) return 'spent';
  return untilMs !== null && untilMs <= nowMs ? 'ended' : 'in-force';
}
