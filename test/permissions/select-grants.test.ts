import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCovered } from '../../src/permissions/decision.ts';
import { type Grant, holdsFor, joinGrants } from '../../src/permissions/select-grants.ts';
import { permissionSets } from './permission-sets.ts';

const word = fc.constantFrom('a', 'b');
const subjects = fc.record({
  unitPath: word,
  contentHash: word,
  author: fc.constantFrom('operator' as const, 'caller' as const, 'model' as const, 'repair' as const),
});
const uses = fc.record({ executionId: word, caller: word, session: word });
const grants: fc.Arbitrary<Grant> = fc
  .record({
    id: word,
    unitPath: word,
    pluginName: word,
    contentHash: word,
    permissions: permissionSets,
    scope: fc.constantFrom('once' as const, 'session' as const, 'until' as const, 'always' as const),
    caller: word,
    session: word,
    untilMs: fc.integer({ min: 0, max: 3 }),
    grantedBy: word,
    createdAtMs: fc.constant(0),
    usedBy: fc.option(word),
    revokedAtMs: fc.option(fc.constant(1)),
    toolOwners: fc.constant({}),
  })
  .map((grant) => ({
    ...grant,
    caller: grant.scope === 'session' ? grant.caller : null,
    session: grant.scope === 'session' ? grant.session : null,
    untilMs: grant.scope === 'until' ? grant.untilMs : null,
  }));

describe('holdsFor', () => {
  it('never holds for another file, once taken back, after its time, or outside its call or session', () => {
    fc.assert(
      fc.property(
        grants,
        subjects,
        fc.option(uses, { nil: undefined }),
        fc.integer({ min: 0, max: 3 }),
        (grant, subject, use, nowMs) => {
          if (!holdsFor(grant, subject, use, nowMs)) return;
          expect(grant.unitPath).toBe(subject.unitPath);
          expect(grant.revokedAtMs).toBeNull();
          if (grant.scope === 'until') expect(grant.untilMs).toBeGreaterThan(nowMs);
          if (grant.scope === 'once') expect(grant.usedBy).toBe(use?.executionId);
          if (grant.scope === 'session') expect([grant.caller, grant.session]).toEqual([use?.caller, use?.session]);
        },
      ),
    );
  });

  it('holds in one call whatever holds without one', () => {
    fc.assert(
      fc.property(grants, subjects, uses, (grant, subject, use) => {
        if (holdsFor(grant, subject, undefined, 1)) expect(holdsFor(grant, subject, use, 1)).toBe(true);
      }),
    );
  });
});

describe('joinGrants', () => {
  it('gives an operator all of every grant, and others env and run only for the very content', () => {
    fc.assert(
      fc.property(fc.array(grants, { maxLength: 4 }), subjects, (list, subject) => {
        const joined = joinGrants(list, subject, () => undefined);
        for (const { permissions, contentHash } of list) {
          if (subject.author === 'operator' || contentHash === subject.contentHash) {
            expect(isCovered(permissions, joined)).toBe(true);
          }
        }
        if (subject.author === 'operator') return;
        const approved = list.filter(({ contentHash }) => contentHash === subject.contentHash);
        expect(new Set(joined.env)).toEqual(new Set(approved.flatMap(({ permissions }) => permissions.env ?? [])));
        expect(new Set(joined.run)).toEqual(new Set(approved.flatMap(({ permissions }) => permissions.run ?? [])));
      }),
    );
  });
});
