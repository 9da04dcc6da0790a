import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameWorkspace } from '../../src/capabilities/files/workspaces.ts';
import { startSmallDaemon } from '../small-daemon.ts';

let daemon: Awaited<ReturnType<typeof startSmallDaemon>>;
let folder: string;

beforeAll(async () => {
  daemon = await startSmallDaemon(
    {
      'own.ts': `export default { name: 'web_search', handler: () => 'mine' };`,
      'asks.ts': `export default {
        name: 'asks',
        permissions: { tools: ['omniroute_file_read'] },
        handler: (args: any, context: any) =>
          context.tools.call('omniroute_file_read', { path: 'alias.txt' }).catch((error: any) => error.message),
      };`,
    },
    {
      grantRequested: false,
      builtins: { tools: ['file_read', 'file_write'] },
      grants: {
        asks: { tools: ['omniroute_file_read'] },
        'builtin:file_read': { read: ['.'] },
        'builtin:file_write': { write: ['out'] },
      },
      files: { maxFileBytes: 1_048_576 },
    },
  );
  folder = join(daemon.parts.config.dataDir, 'workspaces', nameWorkspace('local'));
  mkdirSync(folder, { recursive: true });
});
afterAll(() => daemon.close());

const codeOf = async (tool: string, args: object) => (await daemon.call(tool, args)).error?.code;

describe('file_write', () => {
  it('writes into the workspace of the caller, where file_read finds it', async () => {
    const written = await daemon.call('file_write', { path: 'out/deep/a.txt', content: 'Grüße' });
    expect(written.output).toEqual({ path: 'out/deep/a.txt', size: 7 });
    expect(readFileSync(join(folder, 'out/deep/a.txt'), 'utf8')).toBe('Grüße');
    expect((await daemon.call('file_read', { path: 'out/deep/a.txt' })).output).toEqual({
      path: 'out/deep/a.txt',
      content: 'Grüße',
      size: 7,
    });
  });

  it('asks for what is not granted, with the command that grants it', async () => {
    const answer = await daemon.call('file_write', { path: 'elsewhere.txt', content: 'x' });
    expect(answer.error).toMatchObject({ code: 'permission-denied' });
    expect(answer.error?.message).toContain(`hotcell grant 'builtin:file_write' write=elsewhere.txt`);
    const { asking } = daemon.parts.units.find('builtin:file_write');
    expect(asking?.manifest.permissions).toEqual({ write: ['.'] });
  });

  it('takes and gives bytes that are no text', async () => {
    await daemon.call('file_write', { path: 'out/b.bin', content: '/wA=', encoding: 'base64' });
    expect((await daemon.call('file_read', { path: 'out/b.bin', encoding: 'base64' })).output).toMatchObject({ content: '/wA=' });
  });

  it('holds the bound of a file to the byte, also where each character takes many in JSON', async () => {
    const most = '\u0001'.repeat(1_048_576);
    expect((await daemon.call('file_write', { path: 'out/most', content: most })).output).toMatchObject({ size: most.length });
    expect((await daemon.call('file_read', { path: 'out/most' })).output).toMatchObject({ content: most });
    expect(await codeOf('file_write', { path: 'out/more', content: `${most}x` })).toBe('payload-too-large');
    writeFileSync(join(folder, 'more'), `${most}x`);
    expect(await codeOf('file_read', { path: 'more' })).toBe('payload-too-large');
  });
});

describe('file_read', () => {
  it.each([
    '../secret',
    'out/../../secret',
    '/etc/passwd',
    '.env',
    'out/.git/config',
    'out/.SSH/id',
    'secrets/a',
    'a\\..\\b',
    'C:/a',
    'a\u0000b',
    'proc:/self/environ',
  ])('refuses the path %j, and so does file_write', async (path) => {
    expect(await codeOf('file_read', { path })).toMatch(/^(?:file-refused|permission-denied)$/);
    expect(await codeOf('file_write', { path, content: 'x' })).toMatch(/^(?:file-refused|permission-denied)$/);
  });

  it('follows no link out of the workspace, nor opens a second name of a file outside', async () => {
    const outside = join(daemon.folder, 'outside.txt');
    writeFileSync(outside, 'outside');
    mkdirSync(join(folder, 'out'), { recursive: true });
    symlinkSync(outside, join(folder, 'link'));
    symlinkSync(daemon.folder, join(folder, 'out', 'folder'));
    linkSync(outside, join(folder, 'out', 'hard'));
    for (const path of ['link', 'out/folder/outside.txt', 'out/hard']) {
      expect(await codeOf('file_read', { path }), path).toBe('file-refused');
    }
    for (const path of ['out/folder/outside.txt', 'out/hard']) {
      expect(await codeOf('file_write', { path, content: 'x' }), path).toBe('file-refused');
    }
    expect(readFileSync(outside, 'utf8')).toBe('outside');
  });

  it('shows nobody the files of another', async () => {
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    const caller = { id: 'key_other', role: 'caller' as const };
    const answer = await daemon.call('file_read', { path: 'mine.txt' }, { caller });
    expect(answer.error?.code).toBe('file-failed');
  });
});

describe('createBuiltins', () => {
  it('leaves the names of tools that are off to plugins', async () => {
    expect((await daemon.call('web_search')).output).toBe('mine');
  });

  it('knows those that are on by other names, which no plugin is reached by', async () => {
    writeFileSync(join(folder, 'alias.txt'), 'found');
    expect((await daemon.call('omniroute_file_read', { path: 'alias.txt' })).output).toMatchObject({ content: 'found' });
    expect((await daemon.call('asks')).output).toContain('may not call the tool "file_read"');
    await expect(daemon.call('omniroute_web_search')).rejects.toMatchObject({ code: 'tool-unknown' });
  });
});
