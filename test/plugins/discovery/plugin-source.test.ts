import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classifyName, nameFromFile } from '../../../src/plugins/discovery/entry-names.ts';
import { displayPath, listRoots, locate, type PluginRoot } from '../../../src/plugins/discovery/plugin-roots.ts';
import { findSource, pluginNamesFor, scanRoot } from '../../../src/plugins/discovery/plugin-source.ts';
import { makeFolder } from '../rig/supervisor-rig.ts';

const rootOf = (path: string, kind: PluginRoot['kind'] = 'plugins'): PluginRoot => ({ path, kind, label: 'plugins' });

describe('classifyName', () => {
  it.each(['a.ts', 'a.mts', 'a.cts', 'a.tsx', 'a.js', 'a.mjs', 'a.cjs', 'a.jsx'])('takes %s for code', (name) => {
    expect(classifyName(name)).toBe('code');
  });

  it.each([
    '.hidden.ts',
    'a.ts~',
    '.#a.ts',
    '#a.ts#',
    '.a.ts.swp',
    'a.ts.swx',
    '4913',
    'a.tmp',
    'a.ts.orig',
    'a.ts.bak',
    'a.ts___jb_tmp___',
    'a.ts___jb_old___',
    'node_modules',
    'a.d.ts',
    'a.d.mts',
    'a.test.ts',
    'a.spec.js',
    'a.test.tsx',
    '_helper.ts',
  ])('ignores %s', (name) => {
    expect(classifyName(name)).toBe('ignored');
  });
});

describe('nameFromFile', () => {
  it('makes a name that is allowed of any file name', () => {
    expect(nameFromFile('my plugin.v2.ts')).toBe('my-plugin-v2');
    expect(nameFromFile('ünïcode.mjs')).toBe('unicode');
    expect(nameFromFile('größe.ts')).toBe('grosse');
    expect(nameFromFile('gro\u0308ße.ts')).toBe('grosse');
    expect(nameFromFile('天気.ts')).toMatch(/^plugin-[0-9a-f]{6}$/);
    expect(nameFromFile('天気.ts')).not.toBe(nameFromFile('新聞.ts'));
    expect(nameFromFile('card.tsx')).toBe('card');
    expect(nameFromFile(`${'x'.repeat(200)}.ts`)).toHaveLength(64);
  });
});

describe('findSource', () => {
  it('takes the entry of a folder from its package.json, where it has no index, and never one outside', () => {
    const folder = makeFolder();
    const make = (name: string, main: unknown) => {
      mkdirSync(join(folder, name, 'lib'), { recursive: true });
      writeFileSync(join(folder, name, 'lib', 'tool.ts'), 'export default {}');
      writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ main }));
    };
    make('good', './lib/tool.ts');
    expect(findSource(rootOf(folder), 'good')).toMatchObject({ kind: 'folder', entry: join(folder, 'good', 'lib', 'tool.ts') });
    writeFileSync(join(folder, 'outside.ts'), 'export default {}');
    for (const main of ['../outside.ts', join(folder, 'outside.ts'), 7, 'lib', 'absent.ts', 'package.json']) {
      make('bad', main);
      expect([main, findSource(rootOf(folder), 'bad')]).toEqual([main, undefined]);
    }
    mkdirSync(join(folder, 'pipe'));
    execFileSync('mkfifo', [join(folder, 'pipe', 'package.json')]);
    expect(findSource(rootOf(folder), 'pipe')).toBeUndefined();
  });

  it('opens no pipe, device or folder that is called like a plugin', () => {
    const folder = makeFolder();
    execFileSync('mkfifo', [join(folder, 'pipe.ts')]);
    symlinkSync('/dev/zero', join(folder, 'zero.ts'));
    symlinkSync('nowhere', join(folder, 'dangling.ts'));
    symlinkSync('loop.ts', join(folder, 'loop.ts'));
    mkdirSync(join(folder, 'folder.ts'));
    mkdirSync(join(folder, 'helpers'));
    for (const name of ['pipe.ts', 'zero.ts', 'dangling.ts', 'loop.ts', 'folder.ts', 'helpers', 'absent.ts']) {
      expect(findSource(rootOf(folder), name)).toBeUndefined();
    }
    expect(scanRoot(rootOf(folder))).toEqual([]);
    expect(scanRoot(rootOf(join(folder, 'absent')))).toBeUndefined();
  });

  it('finds files, links to files and folders with an index', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a.ts'), '');
    symlinkSync('a.ts', join(folder, 'b.ts'));
    mkdirSync(join(folder, 'c'));
    writeFileSync(join(folder, 'c', 'index.cjs'), '');
    expect(scanRoot(rootOf(folder))?.map(({ name, kind }) => [name, kind])).toEqual([
      ['a.ts', 'file'],
      ['b.ts', 'file'],
      ['c', 'folder'],
    ]);
    expect(findSource(rootOf(folder), 'b.ts')?.realEntry).toBe(findSource(rootOf(folder), 'a.ts')?.realEntry);
    writeFileSync(join(folder, 'c', 'index.ts'), '');
    expect(findSource(rootOf(folder), 'c')?.entry).toBe(join(folder, 'c', 'index.ts'));
  });

  it('takes only modules in a folder for modules, with the manifest beside them', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a.ts'), '');
    writeFileSync(join(folder, 'm.wasm'), '');
    writeFileSync(join(folder, 'm.yaml'), '');
    expect(scanRoot(rootOf(folder, 'wasm'))).toMatchObject([{ name: 'm.wasm', sidecar: join(folder, 'm.yaml') }]);
    expect(pluginNamesFor('m.yaml')).toEqual(['m.yaml', 'm.wasm']);
    expect(pluginNamesFor('a.ts')).toEqual(['a.ts']);
  });
});

describe('listRoots', () => {
  it('calls folders by their names, and by their paths where the names are the same', () => {
    const roots = listRoots({ pluginDirs: ['/b/plugins', '/a/plugins', '/a/tools', '/a/tools'], wasmDirs: ['/a/wasm'] });
    expect(roots.map(({ label, kind }) => [label, kind])).toEqual([
      ['/a/plugins', 'plugins'],
      ['tools', 'plugins'],
      ['wasm', 'wasm'],
      ['/b/plugins', 'plugins'],
    ]);
  });
});

describe('locate', () => {
  it('finds the root of a path and the name right below it', () => {
    const roots = [rootOf('/p'), rootOf('/p/inner')];
    expect(locate(roots, '/p/a/b/c.ts')).toMatchObject({ root: { path: '/p' }, name: 'a' });
    expect(locate(roots, '/p/inner/x.ts')).toMatchObject({ root: { path: '/p/inner' }, name: 'x.ts' });
    expect(locate(roots, '/p')).toBeUndefined();
    expect(locate(roots, '/pp/x.ts')).toBeUndefined();
    expect(locate(roots, '/p/..x/y.ts')).toMatchObject({ name: '..x' });
    expect(displayPath(rootOf('/p'), '/p/a/b.ts')).toBe('plugins/a/b.ts');
  });
});
