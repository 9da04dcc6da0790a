import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PermissionSet } from '../../src/config/permission-set.ts';
import {
  decideGrants,
  describePermissions,
  isCovered,
  isNothing,
  joinPermissions,
  subtractPermissions,
} from '../../src/permissions/decision.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { permissionSets } from './permission-sets.ts';

describe('subtractPermissions', () => {
  it('leaves what no entry covers', () => {
    const requested: PermissionSet = {
      net: ['a.example.com', 'b.com:80'],
      read: ['data/in', 'database'],
      env: ['KEY'],
      sharedCell: true,
    };
    const granted: PermissionSet = { net: ['*.example.com', 'b.com:81'], read: ['data'], env: ['OTHER'] };
    expect(subtractPermissions(requested, granted)).toEqual({
      net: ['b.com:80'],
      read: ['database'],
      env: ['KEY'],
      sharedCell: true,
    });
  });

  it('leaves all of a budget that is too small, and of a quota only what is missing', () => {
    expect(subtractPermissions({ llm: 2000 }, { llm: 1000 })).toEqual({ llm: 2000 });
    expect(subtractPermissions({ llm: true }, { llm: 1000 })).toEqual({ llm: true });
    expect(subtractPermissions({ llm: 1000 }, { llm: true })).toEqual({});
    expect(subtractPermissions({ kv: { quotaBytes: 10, shared: true } }, { kv: { quotaBytes: 20 } })).toEqual({
      kv: { shared: true },
    });
    expect(subtractPermissions({ kv: { quotaBytes: 10 } }, { kv: true })).toEqual({ kv: { quotaBytes: 10 } });
    expect(subtractPermissions({ kv: true }, { kv: { shared: true } })).toEqual({});
  });

  it('leaves nothing of what is granted as it stands, and everything when nothing is', () => {
    fc.assert(
      fc.property(permissionSets, (set) => {
        expect(subtractPermissions(set, set)).toEqual({});
        expect(subtractPermissions(set, {})).toEqual(set);
      }),
    );
  });

  it('leaves nothing once the rest is granted too', () => {
    fc.assert(
      fc.property(permissionSets, permissionSets, (requested, granted) => {
        const rest = subtractPermissions(requested, granted);
        expect(isCovered(requested, joinPermissions(granted, rest))).toBe(true);
        expect(isNothing(rest)).toBe(isCovered(requested, granted));
      }),
    );
  });
});

describe('joinPermissions', () => {
  it('covers both sides and stays within the grammar', () => {
    fc.assert(
      fc.property(permissionSets, permissionSets, (one, other) => {
        const joined = joinPermissions(one, other);
        expect(isCovered(one, joined) && isCovered(other, joined)).toBe(true);
        expect(parsePermissions(joined)).toEqual({ ok: true, permissions: joined });
      }),
    );
  });
});

describe('decideGrants', () => {
  it('grants nothing by itself', () => {
    const requested: PermissionSet = { net: ['api.example.com'] };
    expect(decideGrants(requested, { grantRequested: false })).toEqual({ granted: {}, pending: requested });
  });

  it('gives the same objects for the same request and sources', () => {
    const requested: PermissionSet = { kv: true };
    const preset: PermissionSet = { net: ['a.com'] };
    const first = decideGrants(requested, { preset, grantRequested: true });
    expect(decideGrants(requested, { preset, grantRequested: true })).toBe(first);
    expect(decideGrants(requested, { preset, grantRequested: false })).toEqual({ granted: preset, pending: requested });
    expect(decideGrants(requested, { grantRequested: false })).toEqual({ granted: {}, pending: requested });
  });

  it('grants the preset, also beyond the request, and the request only on demand', () => {
    const requested: PermissionSet = { net: ['api.example.com'], kv: true };
    const preset: PermissionSet = { net: ['*.example.com', 'other.org'] };
    expect(decideGrants(requested, { preset, grantRequested: false })).toEqual({ granted: preset, pending: { kv: true } });
    expect(decideGrants(requested, { preset, grantRequested: true })).toEqual({
      granted: { net: ['*.example.com', 'other.org', 'api.example.com'], kv: true },
      pending: {},
    });
  });
});

describe('describePermissions', () => {
  it('writes the words of a command', () => {
    expect(
      describePermissions({
        net: ['api.example.com', '*.b.org'],
        read: ['my data'],
        llm: 5,
        kv: { quotaBytes: 9, shared: true },
        sharedCell: true,
      }),
    ).toBe("net=api.example.com 'net=*.b.org' 'read=my data' llm=5 kv=9 kv=shared sharedCell");
    expect(describePermissions({ llm: true, kv: true, write: ["it's"] })).toBe(`'write=it'\\''s' llm kv`);
    expect(describePermissions({})).toBe('');
  });
});
