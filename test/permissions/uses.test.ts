import { describe, expect, it } from 'vitest';
import { createPermissionUses } from '../../src/permissions/uses.ts';
import { temporaryStore } from '../store/temporary-store.ts';

describe('createPermissionUses', () => {
  it('tells what was used within 30 days and what never', () => {
    const clock = { ms: 0 };
    const uses = createPermissionUses(temporaryStore(), () => clock.ms);
    const granted = { net: ['*.example.com', 'other.org'], read: ['notes'], kv: true as const };
    uses.note('/p.ts', granted, 'net', 'api.example.com:443');
    uses.note('/p.ts', granted, 'net', 'made-up.by.guest:443');
    uses.note('/p.ts', granted, 'read', 'notes/a.txt');
    expect(uses.describe('/p.ts', granted)).toEqual({
      used: [
        { permission: "'net=*.example.com'", lastUsedAtMs: 0 },
        { permission: 'read=notes', lastUsedAtMs: 0 },
      ],
      neverUsed: ['net=other.org', 'kv'],
    });
    clock.ms = 31 * 24 * 3_600_000;
    expect(uses.describe('/p.ts', granted)).toEqual({ used: [], neverUsed: ['net=other.org', 'kv'] });
    uses.note('/p.ts', granted, 'kv', 'own');
    expect(uses.describe('/p.ts', granted).used).toEqual([{ permission: 'kv', lastUsedAtMs: clock.ms }]);
    uses.forget('/p.ts');
    expect(uses.describe('/p.ts', granted).used).toEqual([]);
    expect(uses.describe('/other.ts', granted).used).toEqual([]);
  });
});
