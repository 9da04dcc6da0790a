import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/callers/key-ring.ts';
import { createAuthenticator } from '../../../src/http/admission/auth.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store-types.ts';

let dataDir: string;
let store: Store;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hotcell-auth-'));
  store = openStore({ dataDir });
});
afterEach(() => {
  store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function open(env: NodeJS.ProcessEnv = {}, now: () => number = Date.now) {
  const keys = createKeyRing({ store, now });
  return { keys, ...createAuthenticator({ dataDir, env, keys }) };
}

describe('createAuthenticator', () => {
  it('makes a private token once and keeps it', () => {
    const { adminToken, authenticate } = open();
    expect(open().adminToken).toBe(adminToken);
    expect(statSync(join(dataDir, 'token')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, 'token'), 'utf8')).toBe(`${adminToken}\n`);
    expect(authenticate(`Bearer ${adminToken}`)).toEqual({ id: 'local', role: 'admin' });
    expect(authenticate(`bearer ${adminToken}`)).toEqual({ id: 'local', role: 'admin' });
  });

  it('prefers HOTCELL_TOKEN', () => {
    const { adminToken } = open();
    const { authenticate } = open({ HOTCELL_TOKEN: 'chosen' });
    expect([authenticate('Bearer chosen')?.id, authenticate(`Bearer ${adminToken}`)]).toEqual(['local', undefined]);
  });

  it('closes a token file that others could read, and refuses one that cannot be a token', () => {
    writeFileSync(join(dataDir, 'token'), 'mine\n');
    chmodSync(join(dataDir, 'token'), 0o644);
    expect(open().adminToken).toBe('mine');
    expect(statSync(join(dataDir, 'token')).mode & 0o777).toBe(0o600);
    for (const text of ['', 'two words', 'ü']) {
      writeFileSync(join(dataDir, 'token'), text);
      expect(() => open()).toThrow('Expected a token');
    }
    rmSync(join(dataDir, 'token'));
    symlinkSync('/etc/hostname', join(dataDir, 'token'));
    expect(() => open()).toThrow('not a regular file');
    rmSync(join(dataDir, 'token'));
    mkdirSync(join(dataDir, 'token'));
    expect(() => open()).toThrow('not a regular file');
  });

  it('knows keys over restarts, by hash only, and forgets revoked ones at once', () => {
    const { keys } = open();
    const { key, row } = keys.create({ name: 'chat', role: 'caller' });
    expect(JSON.stringify(keys.list())).not.toContain(key.slice(4));
    const again = open();
    expect(again.authenticate(`Bearer ${key}`)).toEqual({ id: row.id, role: 'caller' });
    expect([again.keys.revoke(row.id), again.keys.revoke(row.id)]).toEqual([true, false]);
    expect(again.authenticate(`Bearer ${key}`)).toBeUndefined();
    expect(open().authenticate(`Bearer ${key}`)).toBeUndefined();
  });

  it('notes the use of a key at most once a minute', () => {
    let nowMs = 1_000_000;
    const { keys, authenticate } = open({}, () => nowMs);
    const { key } = keys.create({ name: 'chat', role: 'caller' });
    authenticate(`Bearer ${key}`);
    nowMs += 59_000;
    authenticate(`Bearer ${key}`);
    expect(keys.list()[0]?.lastUsedAtMs).toBe(1_000_000);
    nowMs += 2_000;
    authenticate(`Bearer ${key}`);
    expect(keys.list()[0]?.lastUsedAtMs).toBe(1_061_000);
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic eA==', 'Bearer hck_nobody', `Bearer ${'x'.repeat(2000)}`])(
    'knows nobody by %j',
    (header) => {
      expect(open().authenticate(header)).toBeUndefined();
    },
  );
});
