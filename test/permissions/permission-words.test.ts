import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describePermissions, isCovered, isNothing, subtractPermissions } from '../../src/permissions/decision.ts';
import { describeGrantCommand, parsePermissionWords, takeBack } from '../../src/permissions/permission-words.ts';
import { permissionSets } from './permission-sets.ts';

/** What a shell makes of the words. */
function splitWords(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

describe('parsePermissionWords', () => {
  it('reads every key', () => {
    const words = ['net=a.com', 'net=b.com:80', 'read=notes', 'env=KEY', 'llm=20000', 'kv=65536', 'kv=shared', 'sharedCell=true'];
    expect(parsePermissionWords(words)).toEqual({
      ok: true,
      permissions: {
        net: ['a.com', 'b.com:80'],
        read: ['notes'],
        env: ['KEY'],
        llm: 20000,
        kv: { quotaBytes: 65536, shared: true },
        sharedCell: true,
      },
    });
    expect(parsePermissionWords(['kv', 'llm=true'])).toEqual({ ok: true, permissions: { kv: true, llm: true } });
  });

  it('refuses what it does not know, with the near name', () => {
    expect(parsePermissionWords(['nett=a.com'])).toMatchObject({ ok: false, message: expect.stringContaining('"net"') });
    for (const word of ['net', 'net=https://a.com', 'kv=much', 'llm=-1', 'read=../x', '=x', '__proto__=x']) {
      expect([word, parsePermissionWords([word]).ok]).toEqual([word, false]);
    }
  });

  it('is the inverse of describePermissions', () => {
    fc.assert(
      fc.property(permissionSets, (set) => {
        const read = parsePermissionWords(splitWords(describePermissions(set)));
        if (!read.ok) throw new Error(read.message);
        expect(isCovered(set, read.permissions) && isCovered(read.permissions, set)).toBe(true);
      }),
    );
  });
});

describe('describeGrantCommand', () => {
  it('is ready for a shell', () => {
    expect(describeGrantCommand('weather', { net: ['*.b.org'] })).toBe("hotcell grant weather 'net=*.b.org'");
    expect(describeGrantCommand('my $(plugin)', { kv: true })).toBe("hotcell grant 'my $(plugin)' kv");
  });
});

describe('takeBack', () => {
  it('leaves nothing that allows any of what was taken back, and never more than there was', () => {
    fc.assert(
      fc.property(permissionSets, permissionSets, (granted, revoked) => {
        const rest = takeBack(granted, revoked);
        expect(isNothing(subtractPermissions(rest, granted))).toBe(true);
        for (const key of ['net', 'read', 'write', 'env', 'run', 'tools', 'dangerous', 'engine'] as const) {
          for (const entry of revoked[key] ?? []) expect(isCovered({ [key]: [entry] }, rest)).toBe(false);
        }
        for (const key of ['llm', 'kv', 'sharedCell'] as const) if (revoked[key]) expect(rest[key]).toBeUndefined();
      }),
    );
  });
});
