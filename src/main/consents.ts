import { type AuditTrail, createAuditTrail } from '../callers/audit-trail.ts';
import type { Config } from '../config/config-types.ts';
import { type LimitName, limitTable, listRaisedLimits, writeLimitEntry } from '../config/limits.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import { createApprovals } from '../permissions/approvals/approvals.ts';
import { createGrantQuestions, type GrantQuestions } from '../permissions/approvals/grant-questions.ts';
import { createGrantRegistry, type GrantRegistry } from '../permissions/grant-registry.ts';
import { createPermissionUses, type PermissionUses } from '../permissions/uses.ts';
import type { UnitRegistry } from '../units/unit-registry.ts';
import type { Foundation } from './foundation.ts';

/** What people allow, what they are asked, and what became of it. */
export interface Consents {
  readonly grants: GrantRegistry;
  readonly approvals: ReturnType<typeof createApprovals>;
  readonly grantQuestions: GrantQuestions;
  readonly uses: PermissionUses;
  readonly audit: AuditTrail;
}

/** Opens the books of grants, approvals and uses. `units` is asked for later, when there are some. */
export function openConsents(foundation: Foundation, names: NameRegistry, units: () => UnitRegistry): Consents {
  const { config, closers, store, events, logFault } = foundation;
  const { redactor } = foundation.secrets;
  const grants = createGrantRegistry({
    store,
    events,
    presetOf: (unitPath) => names.findSetting(unitPath, config.grants),
    presetOfAll: createGivenLimits(config),
    grantRequested: config.grantRequested,
    names,
    now: Date.now,
    onExpire: () => void units().refreshGrants().catch(logFault),
    onFault: (error) => logFault(error),
  });
  closers.push(() => grants.close());
  const approvals = createApprovals({
    store,
    events,
    limits: config.approvals,
    redact: redactor.value,
    now: Date.now,
    onFault: (error) => logFault(error),
  });
  closers.push(() => approvals.close());
  const uses = createPermissionUses(store, Date.now);
  const audit = createAuditTrail({ store, events, keep: config.audit.keep, now: Date.now, redactor });
  closers.push(() => audit.close());
  const grantQuestions = createGrantQuestions({
    approvals,
    grants,
    listUnits: () =>
      units()
        .list()
        .flatMap(({ asking, shownPath: path, state, version, reason }) =>
          asking === undefined ? [] : [{ asking, path, state, version, reason }],
        ),
    onFault: (error) => logFault(error),
  });
  closers.push(() => grantQuestions.close());
  // A grant that names a tool stops where another file has the name now.
  closers.push(events.subscribe({ types: ['name-change'] }, () => void units().refreshGrants().catch(logFault)));
  closers.push(events.subscribe({ types: ['plugin-change', 'plugin-removed', 'grant-change'] }, () => grantQuestions.poke()));
  return { grants, approvals, grantQuestions, uses, audit };
}

/** The same object as long as the config says the same. */
function createGivenLimits(config: Config): () => PermissionSet {
  let read = { limits: config.limits, limitsWithoutGrant: config.limitsWithoutGrant };
  let given = giveLimits(read);
  return () => {
    const { limits, limitsWithoutGrant } = config;
    if (limits !== read.limits || limitsWithoutGrant !== read.limitsWithoutGrant) {
      read = { limits, limitsWithoutGrant };
      given = giveLimits(read);
    }
    return given;
  };
}

/** A plugin need not ask for what the config lets all choose, nor for what the config chooses for all itself. */
function giveLimits({ limits, limitsWithoutGrant }: Pick<Config, 'limits' | 'limitsWithoutGrant'>): PermissionSet {
  const chosen = (Object.keys(limits) as LimitName[]).map((name) => writeLimitEntry(name, limitTable[name].max));
  const given = [...listRaisedLimits(limitsWithoutGrant), ...chosen];
  return given.length === 0 ? {} : { limits: given };
}
