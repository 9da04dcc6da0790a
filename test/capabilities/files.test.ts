import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createUser } from './capability-user.ts';
import { openTable } from './table-harness.ts';

const all = { grant: { read: ['.'], write: ['.'] } };

describe('createFiles', () => {
  it('writes, reads, lists, describes and deletes', async () => {
    await using table = openTable();
    const { value } = table;
    expect(await value('files.write', { path: 'notes/a.txt', text: 'grüß' }, all)).toEqual({ size: 6 });
    expect(await value('files.append', { path: 'notes/a.txt', text: '!' }, all)).toEqual({ size: 7 });
    expect(await value('files.append', { path: 'notes/b.txt', text: 'new' }, all)).toEqual({ size: 3 });
    expect(await value('files.read', { path: './notes//a.txt' }, all)).toEqual({ text: 'grüß!', size: 7 });
    expect(await value('files.read', { path: 'notes/a.txt', offset: 1, limit: 1 }, all)).toEqual({ text: 'r', size: 7 });
    expect(await value('files.read', { path: 'notes/a.txt', offset: 99 }, all)).toEqual({ text: '', size: 7 });
    expect(await value('files.mkdir', { path: 'notes/deep/er' }, all)).toBe(null);
    expect(await value('files.list', { path: 'notes' }, all)).toEqual({
      items: [
        { name: 'a.txt', type: 'file' },
        { name: 'b.txt', type: 'file' },
        { name: 'deep', type: 'folder' },
      ],
    });
    expect(await value('files.list', { path: 'notes', limit: 1, after: 'a.txt' }, all)).toEqual({
      items: [{ name: 'b.txt', type: 'file' }],
      next: 'b.txt',
    });
    expect(await value('files.stat', { path: 'notes/a.txt' }, all)).toEqual({
      type: 'file',
      size: 7,
      modifiedAtMs: expect.any(Number),
    });
    expect(await value('files.stat', { path: '.' }, all)).toMatchObject({ type: 'folder' });
    expect(await value('files.exists', { path: 'notes/a.txt' }, all)).toBe(true);
    expect(await value('files.exists', { path: 'notes/a.txt/x' }, all)).toBe(false);
    expect(await value('files.exists', { path: 'nothing/here' }, all)).toBe(false);
    expect(await value('files.delete', { path: 'notes/a.txt' }, all)).toBe(true);
    expect(await value('files.delete', { path: 'notes/a.txt' }, all)).toBe(false);
    expect(await value('files.delete', { path: 'notes' }, all)).toContain('file-failed: The folder "notes" is not empty.');
    expect(await value('files.delete', { path: 'notes', recursive: true }, all)).toBe(true);
    expect(await value('files.list', { path: '.' }, all)).toEqual({ items: [] });
  });

  it('carries bytes as they are', async () => {
    await using table = openTable();
    const bytes = Uint8Array.from([0, 255, 128, 10]);
    await table.ask('files.write', { path: 'x.bin' }, all, bytes);
    const answer = await table.ask('files.read', { path: 'x.bin', as: 'bytes' }, all);
    expect(answer).toMatchObject({ ok: true, payload: '{"size":4}' });
    expect(answer.ok && Buffer.from(answer.body ?? []).equals(bytes)).toBe(true);
  });

  it('keeps callers apart, each in a folder that only the owner of the daemon reads', async () => {
    await using table = openTable();
    const [ann, bob] = ['ann', 'bob'].map((caller) => createUser({ read: ['.'], write: ['.'] }, { caller }));
    if (!ann || !bob) throw new Error('two callers');
    await table.value('files.write', { path: 'own.txt', text: 'a' }, ann);
    expect(await table.value('files.exists', { path: 'own.txt' }, bob)).toBe(false);
    expect(statSync(table.workspaceOf('ann')).mode & 0o777).toBe(0o700);
    expect(statSync(join(table.workspaceOf('ann'), 'own.txt')).mode & 0o777).toBe(0o600);
    expect(table.workspaceOf('ann')).not.toContain('ann');
  });

  it('replaces a file whole: a reader never sees half of it, and nothing is left beside it', async () => {
    await using table = openTable();
    const versions = ['a', 'b'].map((letter) => letter.repeat(300_000));
    await table.value('files.write', { path: 'x', text: versions[0] }, all);
    const writes = Array.from({ length: 20 }, (_, index) =>
      table.value('files.write', { path: 'x', text: versions[index % 2] }, all),
    );
    const reads = Array.from({ length: 40 }, () => table.value('files.read', { path: 'x' }, all));
    for (const read of await Promise.all(reads)) expect(versions).toContain((read as { text: string }).text);
    expect(await Promise.all(writes)).toEqual(writes.map(() => ({ size: 300_000 })));
    expect(readdirSync(join(table.dataDir, 'workspaces', '.incoming'))).toEqual([]);
  });

  it.each([
    ['files.read', 'read', { path: 'data/x' }],
    ['files.list', 'read', { path: 'data' }],
    ['files.stat', 'read', { path: 'data/x' }],
    ['files.exists', 'read', { path: 'data/x' }],
    ['files.write', 'write', { path: 'data/x', text: '' }],
    ['files.append', 'write', { path: 'data/x', text: '' }],
    ['files.mkdir', 'write', { path: 'data/y' }],
    ['files.delete', 'write', { path: 'data/x' }],
  ])('refuses %s without a grant to %s, and allows it with one', async (op, key, payload) => {
    await using table = openTable();
    await table.value('files.write', { path: 'data/x', text: 'x' }, all);
    const other = key === 'read' ? 'write' : 'read';
    const user = createUser({ [other]: ['.'], [key]: ['dat', 'database', 'data2/x'] });
    const refused = await table.value(op, payload, user);
    expect(refused).toBe(
      `permission-denied: Tool "weather" may not ${key} "${payload.path}". ` +
        `Allow it with: hotcell grant weather ${key}=${payload.path}`,
    );
    user.grant({ [key]: ['data'] });
    expect(await table.value(op, payload, user)).not.toEqual(expect.stringContaining(': '));
    expect(user.uses).toEqual([
      [key, payload.path, false],
      [key, payload.path, true],
    ]);
  });

  it('refuses what is no file operation it knows', async () => {
    await using table = openTable();
    expect(await table.value('files.write', { path: 'x' }, all)).toContain('arguments-invalid');
    expect(await table.value('files.write', { path: 'x', text: 1 }, all)).toContain('arguments-invalid');
    expect(await table.value('files.read', { path: 'x', as: 'json' }, all)).toContain('arguments-invalid');
    expect(await table.value('files.read', { path: 'x', offset: -1 }, all)).toContain('arguments-invalid');
    expect(await table.value('files.read', 'not json', all)).toContain('arguments-invalid');
    expect(await table.value('files.read', { path: 'none' }, all)).toContain('file-failed: There is no "none" in the workspace.');
    expect(await table.value('files.read', { path: '.' }, all)).toContain('file-failed');
    expect(await table.value('files.delete', { path: './' }, all)).toContain('file-failed');
    expect(await table.value('files.format', { path: 'x' }, all)).toContain('not-supported');
    expect(table.faults).toEqual([]);
  });

  it('bounds a file and a read', async () => {
    await using table = openTable({ files: { maxFileBytes: 10 } });
    expect(await table.value('files.write', { path: 'x', text: 'x'.repeat(11) }, all)).toContain('payload-too-large');
    expect(await table.value('files.write', { path: 'x', text: 'x'.repeat(10) }, all)).toEqual({ size: 10 });
    expect(await table.value('files.append', { path: 'x', text: 'y' }, all)).toContain('payload-too-large');
    writeFileSync(join(table.workspaceOf(), 'large'), '0123456789abcdef');
    expect(await table.value('files.read', { path: 'large' }, all)).toContain('payload-too-large');
    expect(await table.value('files.read', { path: 'large', offset: 8 }, all)).toEqual({ text: '89abcdef', size: 16 });
  });

  it('bounds a workspace, empty files and folders included, and gives back what is deleted', async () => {
    await using table = openTable({ files: { workspaceQuotaBytes: 5000 } });
    expect(await table.value('files.write', { path: 'a', text: 'x'.repeat(3000) }, all)).toEqual({ size: 3000 });
    expect(await table.value('files.write', { path: 'b', text: 'x'.repeat(3000) }, all)).toContain('quota-exceeded');
    expect(existsSync(join(table.workspaceOf(), 'b'))).toBe(false);
    expect(await table.value('files.mkdir', { path: 'c' }, all)).toContain('quota-exceeded');
    expect(await table.value('files.append', { path: 'b', text: '' }, all)).toContain('quota-exceeded');
    expect(await table.value('files.write', { path: 'a', text: 'x'.repeat(3900) }, all)).toEqual({ size: 3900 });
    expect(await table.value('files.delete', { path: 'a' }, all)).toBe(true);
    expect(await table.value('files.write', { path: 'b', text: 'x'.repeat(3000) }, all)).toEqual({ size: 3000 });
    const bob = createUser({ write: ['.'] }, { caller: 'bob' });
    expect(await table.value('files.write', { path: 'b', text: 'x'.repeat(3000) }, bob)).toEqual({ size: 3000 });
  });

  it('counts what was there before the daemon started', async () => {
    await using table = openTable({ files: { workspaceQuotaBytes: 5000 } });
    mkdirSync(join(table.workspaceOf(), 'old'), { recursive: true });
    writeFileSync(join(table.workspaceOf(), 'old', 'large'), Buffer.alloc(2500));
    expect(await table.value('files.write', { path: 'a', text: 'x' }, all)).toContain('quota-exceeded');
  });
});
