import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMounts } from '../../../src/capabilities/files/mounts.ts';
import { HotcellError } from '../../../src/errors/hotcell-error.ts';
import { createUser } from '../capability-user.ts';
import { openTable } from '../table-harness.ts';

let base: string;
const at = (...names: string[]) => join(base, ...names);
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-mounts-')));
  for (const name of ['docs', 'plugins', 'skills', 'wasm', 'data', 'shared']) mkdirSync(at(name));
  writeFileSync(at('hotcell.config.yaml'), '');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function mount(path: string, name = 'docs') {
  return createMounts({
    mounts: { [name]: { path } },
    dataDir: at('data'),
    configFile: at('hotcell.config.yaml'),
    pluginDirs: [at('plugins')],
    skillDirs: [at('skills')],
    wasmDirs: [at('wasm')],
    sharedDirs: [at('shared')],
  });
}

describe('createMounts', () => {
  it.each(['plugins', 'skills', 'wasm', 'data', 'shared', 'hotcell.config.yaml'])(
    'refuses a mount that is, holds or lies in %s, also behind links',
    (name) => {
      const isFolder = statSync(at(name)).isDirectory();
      if (isFolder) mkdirSync(at(name, 'sub'));
      symlinkSync(at(name), at('link'));
      symlinkSync(base, at('docs', 'up'));
      const paths = [base, at('docs', 'up'), ...(isFolder ? [at(name), at(name, 'sub'), at('link'), at('link', 'sub')] : [])];
      for (const path of paths) expect(() => mount(path)).toThrow(/overlaps/);
      expect(() => mount(at('docs')).find('docs')).not.toThrow();
    },
  );

  it('refuses a mount around a folder that is still to be made', () => {
    rmSync(at('skills'), { recursive: true });
    symlinkSync(at('docs'), at('alias'));
    const parts = {
      dataDir: at('data'),
      configFile: undefined,
      pluginDirs: [at('alias', 'plugins', 'mine')],
      skillDirs: [],
      wasmDirs: [],
      sharedDirs: [],
    };
    expect(() => createMounts({ ...parts, mounts: { docs: { path: at('docs') } } })).toThrow(/overlaps a plugin folder/);
  });

  it('lets folders stand side by side whose names begin alike', () => {
    mkdirSync(at('plugins-docs'));
    expect(() => mount(at('plugins-docs')).find('docs')).not.toThrow();
  });

  it.each([
    ['Docs', 'docs', /no name of a mount/],
    ['d', 'docs', /no name of a mount/],
    ['docs', 'missing', /is no folder/],
    ['docs', 'hotcell.config.yaml', /is no folder/],
    ['docs', 'docs/.ssh', /never see/],
  ])('refuses the mount %s at %s', (name, path, reason) => {
    mkdirSync(at('docs', '.ssh'));
    expect(() => mount(at(path), name)).toThrow(reason);
    expect(() => mount(at(path), name)).toThrow(HotcellError);
  });
});

describe('context.files in a mount', () => {
  const open = (write: boolean) =>
    openTable({ mounts: { docs: { path: at('docs'), write } }, files: { maxFileBytes: 100, workspaceQuotaBytes: 2000 } });
  const user = () => createUser({ read: ['docs:/'], write: ['docs:/'] });

  it('reads what the grant names and nothing beside it', async () => {
    await using table = open(false);
    mkdirSync(at('docs', 'open'));
    writeFileSync(at('docs', 'open', 'a'), 'text');
    writeFileSync(at('docs', 'other'), 'other');
    const user = createUser({ read: ['docs:/open'] });
    expect(await table.value('files.read', { path: 'docs:/open/a' }, user)).toEqual({ text: 'text', size: 4 });
    expect(await table.value('files.read', { path: 'docs:/other' }, user)).toBe(
      'permission-denied: Tool "weather" may not read "docs:/other". Allow it with: hotcell grant weather read=docs:/other',
    );
    user.grant({ read: ['.'] });
    expect(await table.value('files.read', { path: 'docs:/open/a' }, user)).toMatch(/^permission-denied: /);
    user.grant({ read: ['docs:/', '.'] });
    expect(await table.value('files.list', { path: 'docs:/' }, user)).toMatchObject({
      items: [{ name: 'open' }, { name: 'other' }],
    });
    expect(await table.value('files.read', { path: 'docs:/none' }, user)).toContain('file-failed: There is no "docs:/none".');
    expect(await table.value('files.read', { path: './docs:/open/a' }, user)).toMatch(/^file-refused: /);
    expect(user.uses.at(-1)).toEqual(['read', 'docs:/none', true]);
  });

  it('is changed only when the mount and the grant say so', async () => {
    await using readOnly = open(false);
    expect(await readOnly.value('files.write', { path: 'docs:/a', text: 'x' }, user())).toContain('set mounts.docs.write: true');
    await using table = open(true);
    const reader = createUser({ read: ['docs:/'] });
    expect(await table.value('files.write', { path: 'docs:/a', text: 'x' }, reader)).toMatch(/^permission-denied: /);
    expect(await table.value('files.write', { path: 'docs:/a', text: 'x' }, user())).toEqual({ size: 1 });
    expect(readFileSync(at('docs', 'a'), 'utf8')).toBe('x');
  });

  it('says that there is no such mount', async () => {
    await using table = open(true);
    const user = createUser({ read: ['doc:/'] });
    expect(await table.value('files.list', { path: 'doc:/' }, user)).toMatch(/^file-refused: There is no mount "doc".*docs/);
  });

  it('bounds a file, but counts no quota, keeps modes, and leaves nothing beside what it writes', async () => {
    await using table = open(true);
    expect(await table.value('files.write', { path: 'docs:/a', text: 'x'.repeat(101) }, user())).toMatch(/^payload-too-large: /);
    for (let n = 0; n < 5; n++) await table.value('files.write', { path: `docs:/many/${n}`, text: 'x'.repeat(100) }, user());
    expect(readdirSync(at('docs', 'many'))).toHaveLength(5);
    writeFileSync(at('docs', 'shown'), 'old', { mode: 0o644 });
    await table.value('files.write', { path: 'docs:/shown', text: 'new' }, user());
    expect(statSync(at('docs', 'shown')).mode & 0o777).toBe(0o644);
    expect(existsSync(at('docs', '.hotcell'))).toBe(false);
  });

  it('is refused when a folder above it became a link', async () => {
    mkdirSync(at('deep', 'docs'), { recursive: true });
    mkdirSync(at('trap', 'docs'), { recursive: true });
    writeFileSync(at('trap', 'docs', 'x'), 'trap');
    await using table = openTable({ mounts: { docs: { path: at('deep', 'docs'), write: true } } });
    renameSync(at('deep'), at('gone'));
    symlinkSync(at('trap'), at('deep'));
    expect(await table.value('files.read', { path: 'docs:/x' }, user())).toMatch(/^file-refused: /);
    expect(await table.value('files.write', { path: 'docs:/y', text: 'y' }, user())).toMatch(/^file-refused: /);
    expect(readdirSync(at('trap', 'docs'))).toEqual(['x']);
  });

  it('is not handed to engines as part of the workspace', async () => {
    await using table = open(true);
    const { read, write } = await table.table.workspace(createUser({ read: ['docs:/', 'notes'], write: ['docs:/x'] }));
    expect([read, write]).toEqual([['notes'], []]);
  });
});
