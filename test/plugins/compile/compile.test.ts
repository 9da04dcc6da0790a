import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCompiler } from '../../../src/plugins/compile/compile.ts';
import type { CompileResult } from '../../../src/plugins/compile/compile-types.ts';
import { findRefusedBuiltin } from '../../../src/plugins/compile/specifiers.ts';

let home: string;
let root: string;
const builtins = new Map([['path', async () => 'export const join = (...parts) => parts.join("/");\nexport default { join };']]);
const standIns = new Map([['fs', async () => 'module.exports = { stands: "in" };']]);
const refusedBuiltins = new Map([['fs', 'Use context.files, which reads and writes the workspace.']]);

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-compile-')));
  root = join(home, 'plugins');
  mkdirSync(root);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const shared = () => join(home, 'shared');
const compilers: Array<ReturnType<typeof createCompiler>> = [];
afterAll(() => Promise.all(compilers.map((compiler) => compiler.close())));

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
}

/** A plugin that is a folder; `isFolder` false: a single file among others. */
async function compile(entry = 'a.ts', pluginDir = '.', isFolder = true): Promise<CompileResult> {
  const compiler = createCompiler({ sharedDirs: [shared()], builtins, standIns, refusedBuiltins });
  compilers.push(compiler);
  return compiler.compile({ entry: join(root, entry), rootDir: root, pluginDir: join(root, pluginDir), isFolder });
}

async function exportsOf(entry = 'a.ts', pluginDir = '.'): Promise<Record<string, unknown>> {
  const result = await compile(entry, pluginDir);
  if (!result.ok) throw new Error(`${result.diagnostic.message}\n${result.diagnostic.codeFrame}`);
  const global: Record<string, unknown> = {};
  global.globalThis = global;
  runInNewContext(result.code, global);
  return JSON.parse(JSON.stringify(global.__hotcellExports, (_, value) => (typeof value === 'function' ? 'function' : value)));
}

async function diagnosticOf(entry = 'a.ts', pluginDir = '.', isFolder = true) {
  const result = await compile(entry, pluginDir, isFolder);
  if (result.ok) throw new Error(`Compiled, and should not have: ${result.code}`);
  return result.diagnostic;
}

describe('createCompiler', () => {
  it('tells of the sources of an entry that takes nothing from files while it is bundled, and they are those of the result', async () => {
    write({
      'plugins/a.ts': 'export default { handler: () => 1 };',
      'plugins/host.ts': "import { definePlugin } from 'hotcell';\nexport default definePlugin({ handler: () => 1 });",
      'plugins/types.ts': "import type { Args } from './args.ts';\nexport default { handler: (args: Args) => args };",
      'plugins/args.ts': 'export interface Args { n: number }',
      'plugins/broken.ts': 'export default {',
    });
    const compiler = createCompiler({ sharedDirs: [], builtins, standIns, refusedBuiltins });
    compilers.push(compiler);
    const look = async (name: string) => {
      const told: unknown[] = [];
      const onSources = (sources: unknown) => void told.push(sources);
      const entry = join(root, name);
      const result = await compiler.compile({ entry, rootDir: root, pluginDir: root, isFolder: false, onSources });
      return { told, sources: result.ok ? result.sources : undefined };
    };
    for (const name of ['a.ts', 'host.ts']) {
      const { told, sources } = await look(name);
      expect(told).toEqual([sources]);
    }
    expect((await look('types.ts')).told).toEqual([]);
    expect((await look('broken.ts')).told).toHaveLength(1);
  });

  it('brings JSX what it needs where React is installed, refuses it where it is not, and leaves a factory of its own alone', async () => {
    write({ 'plugins/a.tsx': 'export default { handler: () => <p title="x">hi</p> };' });
    expect(await diagnosticOf('a.tsx')).toMatchObject({
      code: 'import-unresolved',
      message: 'JSX needs React: no node_modules of the plugin or above it has the package "react".',
      fix: expect.stringContaining('npm install react'),
      line: 1,
    });
    const own = { name: 'react', version: '19.0.0', main: 'index.js' };
    write({
      'plugins/node_modules/react/package.json': JSON.stringify(own),
      'plugins/node_modules/react/index.js': 'exports.createElement = (type) => ({ classic: type });',
      'plugins/node_modules/react/jsx-runtime.js': 'exports.jsx = (type, props) => ({ type, props });',
      'plugins/b.tsx': 'export const made = <p title="x">hi</p>;',
      'plugins/c.tsx': "import React from 'react';\nexport const made = <p>hi</p>;",
      'plugins/d.jsx': '/** @jsx h */\nconst h = (type) => ({ own: type });\nexport const made = <p>hi</p>;',
    });
    expect((await exportsOf('b.tsx')).made).toEqual({ type: 'p', props: { title: 'x', children: 'hi' } });
    expect((await exportsOf('c.tsx')).made).toEqual({ classic: 'p' });
    expect((await exportsOf('d.jsx')).made).toEqual({ own: 'p' });
  });

  it('names every wrong import of a file and how to mend it, several packages in one sentence', async () => {
    write({
      'plugins/a.ts': `import { x } from './helpr';\nimport fs from 'node:fs';\nimport left from 'left-pad';\nimport right from 'right-pad';\nimport './none.ts';\nexport default { handler: () => [x, fs, left, right] };`,
      'plugins/helper.ts': 'export const x = 1;',
    });
    const { message, fix } = await diagnosticOf();
    expect(message.match(/node:fs/g)).toHaveLength(1);
    expect(message).toContain('Line 1: Import "./helpr" was not found: there is no such file.');
    expect(message).toContain(
      'Line 3: 2 packages were not found in any node_modules of the plugin or above it: "left-pad", "right-pad".',
    );
    expect(message).toContain('Line 5: Import "./none.ts" was not found');
    expect(message).not.toContain('more error');
    for (const part of ['context.files', 'Did you mean "./helper.ts"?', 'npm install left-pad right-pad.'])
      expect(fix).toContain(part);
  });

  it.each([
    [
      'an ES module',
      'a.ts',
      'export default { name: "x" as string, handler() {} }',
      { default: { name: 'x', handler: 'function' } },
    ],
    ['.mts', 'a.mts', 'export default { name: "x" }', { default: { name: 'x' } }],
    ['.mjs', 'a.mjs', 'export const name = "x"; export function handler() {}', { name: 'x', handler: 'function' }],
    ['CommonJS module.exports', 'a.js', 'module.exports = { name: "x", handler() {} }', { name: 'x', handler: 'function' }],
    ['.cjs', 'a.cjs', 'exports.default = { name: "x" }', { default: { name: 'x' } }],
    ['module.exports.default', 'a.js', 'module.exports.default = { name: "x" }', { default: { name: 'x' } }],
    ['a CommonJS function', 'a.cjs', 'module.exports = () => 1', { default: 'function' }],
  ])('leaves the namespace of %s on the global object', async (_, file, text, expected) => {
    write({ [`plugins/${file}`]: text });
    expect(await exportsOf(file)).toEqual(expected);
  });

  it('bundles helpers, JSON, built-ins, shared folders, packages and hotcell itself, and lists what it read', async () => {
    write({
      'plugins/a.ts': `import { definePlugin } from 'hotcell';
        import { one } from './lib/one.js';
        import data from './data.json' with { type: 'json' };
        import { join } from 'node:path';
        import two from '../shared/two.ts';
        import three from 'three';
        export default definePlugin({ values: [one, data.n, join('a', 'b'), two, three], lazy: () => import('./lib/lazy.ts') });`,
      'plugins/lib/one.ts': 'export const one = 1;',
      'plugins/lib/lazy.ts': 'export const lazy = true;',
      'plugins/data.json': '{"n": 5}',
      'shared/two.ts': 'export default 2;',
      'node_modules/three/package.json': '{"name":"three","exports":{"import":"./three.mjs"}}',
      'node_modules/three/three.mjs': 'export default 3;',
    });
    expect(await exportsOf()).toEqual({ default: { values: [1, 5, 'a/b', 2, 3], lazy: 'function' } });
    const result = await compile();
    expect(result.inputs.map((input) => input.path.slice(home.length)).sort()).toEqual([
      '/node_modules/three/three.mjs',
      '/plugins/a.ts',
      '/plugins/data.json',
      '/plugins/lib/lazy.ts',
      '/plugins/lib/one.ts',
      '/shared/two.ts',
    ]);
  });

  it('lets a folder plugin use its own packages and the helpers beside it', async () => {
    write({
      'plugins/f/index.ts': `import own from 'own'; import { h } from '../_help.ts'; export default { own, h };`,
      'plugins/f/node_modules/own/index.js': 'module.exports = "own";',
      'plugins/f/package.json': '{"name":"f"}',
      'plugins/_help.ts': 'export const h = 1;',
    });
    expect(await exportsOf('f/index.ts', 'f')).toEqual({ default: { own: 'own', h: 1 } });
  });

  it('reads files that lend only types, so that a change in them is a change of the plugin', async () => {
    write({
      'plugins/a.ts': `import type { A } from './types'; export default { handler(args: A) {} }`,
      'plugins/types.ts': 'export interface A {}',
    });
    const first = await compile();
    write({ 'plugins/types.ts': 'export interface A { b: string }' });
    const second = await compile();
    if (!first.ok || !second.ok) throw new Error('does not compile');
    expect(second.sources.map((file) => file.path)).toEqual(['a.ts', 'types.ts']);
    expect(second.code).toBe(first.code);
    expect(second.contentHash).not.toBe(first.contentHash);
  });

  it('keeps CommonJS CommonJS below a package of ES modules', async () => {
    write({
      'package.json': '{"type":"module"}',
      'plugins/a.js': `const { one } = require('./lib/one.js'); module.exports = { one, data: require('./data.json') };`,
      'plugins/lib/one.js': `exports.one = require('./two').two;`,
      'plugins/lib/two.js': 'exports.two = 2;',
      'plugins/data.json': '[3]',
    });
    expect(await exportsOf('a.js')).toEqual({ one: 2, data: [3] });
    write({ 'plugins/lib/two.js': 'exports.two = 2 +;' });
    expect(await diagnosticOf('a.js')).toMatchObject({ file: 'lib/two.js', line: 1, column: 18 });
    write({ 'plugins/a.js': 'module.exports = { +;' });
    expect(await diagnosticOf('a.js')).toMatchObject({ file: 'a.js', line: 1 });
    write({ 'plugins/a.js': `module.exports = require('../../x.json');` });
    expect(await diagnosticOf('a.js')).toMatchObject({ code: 'import-refused', file: 'a.js', line: 1 });
  });

  it('gives the same content the same hash', async () => {
    write({ 'plugins/a.ts': 'export default {}' });
    const [first, second] = [await compile(), await compile()];
    if (!first.ok || !second.ok) throw new Error('does not compile');
    expect(first.contentHash).toBe(second.contentHash);
  });

  it('ignores the tsconfig of the host', async () => {
    write({
      'plugins/tsconfig.json': '{ broken',
      'tsconfig.json': '{"extends":"./nothing"}',
      'plugins/a.ts': 'export default { a: 1 }',
    });
    expect(await exportsOf()).toEqual({ default: { a: 1 } });
  });

  describe('decorators', () => {
    const told =
      'export const told = [];\nexport const Note = (...of) => (...args) => void told.push([of.length, args.length, typeof args[0]]);';
    const lib = (name: string) => ({
      [`node_modules/${name}/package.json`]: `{ "name": "${name}", "type": "module", "exports": "./index.js" }`,
      [`node_modules/${name}/index.js`]: told,
    });
    const classOf = (from: string, more = '') =>
      `import { Note, told } from '${from}';\nclass Part { @Note() size = 1; ${more} }\nvoid Part;\nexport default told;`;

    it('are the standard ones', async () => {
      write({ ...lib('any'), 'plugins/a.ts': classOf('any') });
      expect(await exportsOf()).toEqual({ default: [[0, 2, 'undefined']] });
    });

    it.each([
      ['a package that has these', classOf('class-validator')],
      [
        'reflect-metadata',
        `import 'reflect-metadata';\n${classOf('class-validator').replace("from 'class-validator'", "from 'any'")}`,
      ],
    ])('are those of TypeScript beside %s', async (_what, text) => {
      write({ ...lib('any'), ...lib('class-validator'), ...lib('reflect-metadata'), 'plugins/a.ts': text });
      expect(await exportsOf()).toEqual({ default: [[0, 3, 'object']] });
    });

    it('are those of TypeScript where parameters have some', async () => {
      write({ ...lib('any'), 'plugins/a.ts': classOf('any', 'constructor(@Note() part: number) {}') });
      expect(await exportsOf()).toEqual({
        default: [
          [0, 3, 'object'],
          [0, 3, 'function'],
        ],
      });
    });

    it('say that they find no types', async () => {
      write({ ...lib('any'), ...lib('reflect-metadata'), 'plugins/a.ts': `import 'reflect-metadata';\n${classOf('any')}` });
      const result = await compile();
      expect(result.ok && result.warnings.join(' ')).toContain('@inject(Service)');
    });
  });

  it('shows a syntax error with file, line, column and code frame', async () => {
    write({ 'plugins/a.ts': 'export default {\n  name: "ä", oops oops\n};\n' });
    expect(await diagnosticOf()).toEqual({
      code: 'compile-failed',
      message: 'Expected "}" but found "oops".',
      file: 'a.ts',
      line: 2,
      column: 19,
      codeFrame: '  1 | export default {\n> 2 |   name: "ä", oops oops\n    |                   ^\n  3 | };\n  4 |',
      fix: 'Save the file when it is mended: it is built again by itself.',
    });
  });

  it('names the near file of an import that is not there, and the files that would mend it', async () => {
    write({ 'plugins/a.ts': `import { h } from './hepler'; export default h;`, 'plugins/helper.ts': '' });
    const result = await compile();
    expect(result).toMatchObject({
      ok: false,
      diagnostic: { code: 'import-unresolved', line: 1, fix: 'Did you mean "./helper.ts"?' },
    });
    expect(!result.ok && result.missing).toContain(join(root, 'hepler.ts'));
    expect(result.inputs).toHaveLength(1);
  });

  it('says what a package that is there does not export', async () => {
    write({
      'node_modules/plain/package.json': '{ "name": "plain", "type": "module", "exports": "./index.js" }',
      'node_modules/plain/index.js': 'export const parse = 1;',
      'plugins/a.ts': `import plain from 'plain';\nexport default plain;`,
      'plugins/b.ts': `import { prase } from 'plain';\nexport default prase;`,
    });
    expect(await diagnosticOf()).toMatchObject({
      message: '"plain" has no default export.',
      line: 1,
      fix: 'Import by name: import { NAME } from "plain", or all of it: import * as NAME from "plain".',
    });
    expect(await diagnosticOf('b.ts')).toMatchObject({ message: '"plain" does not export "prase".', line: 1 });
  });

  it('says what helps against a file that is too large to be bundled', async () => {
    write({
      'node_modules/large/package.json': '{ "name": "large", "main": "index.js" }',
      'node_modules/large/index.js': `module.exports = '${'x'.repeat(5 * 1024 * 1024)}';`,
      'plugins/a.ts': `import large from 'large';\nexport default large;`,
    });
    const { message, fix } = await diagnosticOf();
    expect(message).toBe('"node_modules/large/index.js" is larger than 5 MB.');
    expect(fix).toContain('a smaller package');
  });

  it('says how to install a package that is not there', async () => {
    write({ 'plugins/a.ts': `import z from '@scope/zod/mini'; export default z;` });
    expect((await diagnosticOf()).fix).toBe('Install it in the folder of the plugin: npm install @scope/zod.');
  });

  it('names what to use instead of a built-in', async () => {
    write({ 'plugins/a.ts': `import { readFileSync } from 'fs';\nexport default { readFileSync };` });
    expect(await diagnosticOf()).toMatchObject({ code: 'builtin-refused', line: 1, fix: refusedBuiltins.get('fs') });
  });

  it('lets a package require a built-in that it uses only under Node', async () => {
    write({
      'plugins/a.ts': `import lib from 'lib'; export default lib;`,
      'node_modules/lib/index.js': 'module.exports = { fs: require("fs") };',
    });
    expect(JSON.stringify(await exportsOf())).toContain('{"stands":"in"}');
  });

  it('comes to the same code, map and hash whether the words of a module say that it stands alone or not', async () => {
    const text =
      "import { definePlugin } from 'hotcell';\nimport { join } from 'node:path';\nexport default definePlugin({ at: join('a', 'b') });\n";
    write({ 'plugins/a.ts': text });
    const alone = await compile('a.ts', '.', false);
    expect(await exportsOf()).toEqual({ default: { at: 'a/b' } });
    write({ 'plugins/a.ts': `${text}// require` });
    const { code, sourceMap } = Object(await compile('a.ts', '.', false));
    expect(alone).toMatchObject({ ok: true, code, sourceMap, sources: [{ path: 'a.ts', text }] });
  });

  it('leaves a promise of the exports where a module awaits at its top level', async () => {
    write({
      'plugins/a.ts': `import { b } from './b'; export default { a: await Promise.resolve(1), b };`,
      'plugins/b.ts': 'export const b = await Promise.resolve(2);',
    });
    const result = await compile();
    const global: { __hotcellExports?: Promise<unknown>; globalThis?: unknown } = {};
    if (result.ok) runInNewContext(result.code, Object.assign(global, { globalThis: global }));
    expect({ ...Object(await global.__hotcellExports) }).toMatchObject({ default: { a: 1, b: 2 } });
  });

  it.each([
    ['empty', '', 'is empty'],
    ['binary', 'a\0b', 'is binary'],
    ['10 MB', ' '.repeat(10 * 1024 * 1024), 'is larger than 5 MB'],
  ])('refuses an %s file', async (_, text, message) => {
    write({ 'plugins/a.ts': text });
    const diagnostic = await diagnosticOf();
    expect(diagnostic).toMatchObject({ code: 'entry-invalid', file: 'a.ts' });
    expect(diagnostic.message).toContain(message);
  });

  it('survives code that overflows the bundler, and so do its neighbours', async () => {
    write({ 'plugins/a.ts': `export default ${'x=>'.repeat(300_000)}1`, 'plugins/b.ts': 'export default { b: 1 }' });
    const [bad, good] = await Promise.all([compile('a.ts'), compile('b.ts')]);
    expect(bad).toMatchObject({ ok: false, diagnostic: { code: 'compile-failed', file: 'a.ts' } });
    expect(good.ok).toBe(true);
    expect((await compile('b.ts')).ok).toBe(true);
  }, 60_000);

  it('stops when the signal aborts', async () => {
    write({ 'plugins/a.ts': 'export default {}' });
    const compiler = createCompiler({ sharedDirs: [], builtins, refusedBuiltins });
    compilers.push(compiler);
    const request = { entry: join(root, 'a.ts'), rootDir: root, pluginDir: root, isFolder: true };
    await expect(compiler.compile({ ...request, signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });
});

describe('what a build may read', () => {
  const secret = 'TOP-SECRET-VALUE';
  beforeEach(() => write({ 'host/credentials.json': JSON.stringify({ secret }), 'host/.env.ts': `export default "${secret}"` }));

  it.each([
    ['an absolute path', () => `import x from '${join(home, 'host/credentials.json')}'; export default x;`],
    ['a way out of the folder', () => `import x from '../host/credentials.json'; export default x;`],
    ['a way out through require', () => `export default require('./x/../../host/credentials.json');`],
    ['a way out through a hidden require', () => `export default requ\\u0069re('../host/credentials.json');`],
    ['a way out behind a comment', () => `export * from /* the host */ '../host/credentials.json'; export default 1;`],
    ['a way out through import()', () => `export default () => import('../host/credentials.json');`],
    ['a file: address', () => `import x from 'file://${join(home, 'host/credentials.json')}'; export default x;`],
    ['a data: address', () => `import x from 'data:text/javascript,export default 1'; export default x;`],
    ['an http: address', () => `import x from 'https://example.com/x.js'; export default x;`],
    ['a link', () => `import x from './link.json'; export default x;`],
    ['a linked folder', () => `import x from './linked/credentials.json'; export default x;`],
    ['a main field that leads out', () => `import x from 'evil'; export default x;`],
    ['a linked package', () => `import x from 'linkedpackage/credentials.json'; export default x;`],
    ['a hidden folder', () => `import x from './.git/x.json'; export default x;`],
    ['a native add-on', () => `export default require('./x.node');`],
    ['a file that is neither code nor JSON', () => `import x from './notes.txt'; export default x;`],
    ['a registry specifier', () => `import x from 'npm:zod@4'; export default x;`],
  ])('is not %s', async (_, text) => {
    write({
      'plugins/a.ts': text(),
      'plugins/.git/x.json': JSON.stringify({ secret }),
      'plugins/notes.txt': secret,
      'plugins/x.node': 'x',
      'node_modules/evil/package.json': JSON.stringify({ main: '../../host/credentials.json' }),
    });
    symlinkSync(join(home, 'host/credentials.json'), join(root, 'link.json'));
    symlinkSync(join(home, 'host'), join(root, 'linked'));
    symlinkSync(join(home, 'host'), join(home, 'node_modules/linkedpackage'));
    const diagnostic = await diagnosticOf();
    expect(diagnostic).toMatchObject({ code: 'import-refused', file: 'a.ts', line: 1 });
    expect(diagnostic.codeFrame).toContain('^');
    expect(JSON.stringify(diagnostic)).not.toContain(secret);
  });

  it.each(['//# ', '//@ ', '/*# ', '  //#\t'])('opens no file that a source map comment names: %j', async (start) => {
    const named = (file: string) => `export default 1;\n${start}sourceMappingURL=${file}${start.includes('*') ? ' */' : ''}\n`;
    write({ 'secret.json': '{"version":3,"sources":["stolen.ts"],"mappings":"AAAA"}', 'folder/file': 'x' });
    const maps = [];
    for (const file of ['absent.json', '../secret.json', `${home}/secret.json`, `file://${home}/secret.json`, '../folder']) {
      write({ 'plugins/a.ts': named(file), 'plugins/c.js': named(file).replace('export default', 'module.exports =') });
      for (const entry of ['a.ts', 'c.js']) {
        const result = await compile(entry);
        expect(result).toMatchObject({ ok: true, warnings: [] });
        if (result.ok) maps.push(result.sourceMap);
      }
    }
    expect(maps.join()).not.toContain('stolen');
  });

  it('leaves a text that speaks of source maps as it is', async () => {
    write({ 'plugins/a.ts': 'export const text = "//# sourceMappingURL=x" + `/*@ sourceMappingURL=y */`;' });
    expect(await exportsOf()).toEqual({ text: '//# sourceMappingURL=x/*@ sourceMappingURL=y */' });
  });

  it('says which package it missed, so that installing it mends the plugin', async () => {
    write({
      'plugins/a.ts':
        "import { render } from '@scope/view/server'; import part from 'absent/part'; export default [render, part];",
    });
    const result = await compile();
    expect(!result.ok && result.missing).toEqual(
      expect.arrayContaining(['@scope/view', 'absent'].map((name) => join(root, 'node_modules', name, 'package.json'))),
    );
  });

  it('says of a package that is there what it lacks, and hears of the package file alone', async () => {
    write({
      'plugins/a.ts': "import part from 'there/part'; import main from 'mainless'; export default [part, main];",
      'plugins/node_modules/there/package.json': '{ "exports": { ".": "./none.js" } }',
      'plugins/node_modules/mainless/package.json': '{ "main": "none.js" }',
    });
    const result = await compile();
    const fileOf = (name: string) => join(root, 'node_modules', name, 'package.json');
    expect(result).toMatchObject({
      ok: false,
      diagnostic: { code: 'import-unresolved', message: expect.stringContaining('"there" is installed, but does not have it') },
    });
    expect(result.inputs.map(({ path }) => path)).toEqual(expect.arrayContaining(['there', 'mainless'].map(fileOf)));
    expect(!result.ok && result.missing.filter((path) => existsSync(path))).toEqual([]);
    expect(!result.ok && result.missing).toContain(join(root, 'node_modules/there/part.js'));
  });

  it('does not say of a package that leads out of the plugin whether it is there', async () => {
    write({ 'plugins/a.ts': `import x from 'stolen'; export default x;`, 'host/stolen/package.json': `{"a": ${secret}}` });
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    symlinkSync(join(home, 'host/stolen'), join(root, 'node_modules/stolen'));
    expect((await diagnosticOf()).message).toContain('no node_modules of the plugin or above it has the package "stolen"');
  });

  it('does not tell whether a file of the host exists', async () => {
    write({ 'plugins/a.ts': `import x from '../host/credentials.json'; export default x;` });
    const there = await diagnosticOf();
    write({ 'plugins/a.ts': `import x from '../host/credentialz.json'; export default x;` });
    const gone = await diagnosticOf();
    expect(gone.message.replace('credentialz', 'credentials')).toBe(there.message);
  });

  it('does not quote a package.json that is really a file of the host', async () => {
    write({
      'plugins/f/index.ts': `import x from './y'; export default x;`,
      'plugins/f/y.ts': 'export default 1',
      'host/key.json': `{"a": ${secret}}`,
    });
    symlinkSync(join(home, 'host/key.json'), join(root, 'f/sub.json'));
    mkdirSync(join(root, 'f/deep'));
    symlinkSync(join(home, 'host/key.json'), join(root, 'f/deep/package.json'));
    write({ 'plugins/f/index.ts': `import x from './deep/y'; export default x;`, 'plugins/f/deep/y.ts': 'export default 1' });
    const diagnostic = await diagnosticOf('f/index.ts', 'f');
    expect(JSON.stringify(diagnostic)).not.toMatch(/TOP|SECRET/);
  });

  it.each(['x.ts', 'package.json'])('is not a pipe named %s', async (name) => {
    write({ 'plugins/f/index.ts': `import x from './x'; export default x;` });
    execFileSync('mkfifo', [join(root, 'f', name)]);
    expect((await diagnosticOf('f/index.ts', 'f')).message).toContain('not a regular file');
  });

  it.each(['node_modules/odd/package.json', 'node_modules/odd/dist/package.json', 'node_modules/@a/odd/package.json'])(
    'is not a pipe named %s, which is told well before the build would run out of time',
    async (pipe) => {
      const name = pipe.includes('@a') ? '@a/odd' : 'odd';
      write({
        'plugins/f/index.ts': `import x from '${name}/dist/x.js'; export default x;`,
        [`plugins/f/node_modules/${name}/dist/x.js`]: 'export default 1',
      });
      execFileSync('mkfifo', [join(root, 'f', pipe)]);
      const { message } = await diagnosticOf('f/index.ts', 'f');
      expect(message).toContain('package.json is not a regular file');
    },
  );

  it.each([
    ['the source of another plugin', './other.ts'],
    ['what lies in the folder of another plugin', './victim/private.json'],
    ['the same from above', '../plugins/victim/private.json'],
    ['data beside it, which may be another plugin’s', './other.json'],
    ['data of another plugin through require', './x/../other.json'],
  ])('is, for a plugin of one file, not %s', async (_, specifier) => {
    write({
      'plugins/a.ts': `export default require('${specifier}');`,
      'plugins/b.ts': `import x from '${specifier}'; export default x;`,
      'plugins/other.ts': `export default "${secret}"`,
      'plugins/other.json': JSON.stringify({ secret }),
      'plugins/victim/index.ts': 'export default {}',
      'plugins/victim/private.json': JSON.stringify({ secret }),
    });
    for (const entry of ['a.ts', 'b.ts']) {
      const diagnostic = await diagnosticOf(entry, '.', false);
      expect(diagnostic).toMatchObject({
        code: 'import-refused',
        file: entry,
        line: 1,
        fix: expect.stringContaining('begins with _'),
      });
      expect(JSON.stringify(diagnostic)).not.toContain(secret);
    }
    write({ 'plugins/f/index.ts': `import x from '../${specifier}'; export default x;` });
    expect(await diagnosticOf('f/index.ts', 'f')).toMatchObject({ code: 'import-refused' });
  });

  it('is what plugins share under names that begin with an underscore, and the own entry', async () => {
    write({
      'plugins/a.ts': `import { one } from './_lib/one.ts'; import two from './_two.json'; export { one, two }; export * as self from './a.ts';`,
      'plugins/_lib/one.ts': `export { one } from './deeper/one.ts';`,
      'plugins/_lib/deeper/one.ts': 'export const one = 1;',
      'plugins/_two.json': '2',
    });
    const result = await compile('a.ts', '.', false);
    expect(result).toMatchObject({ ok: true });
    expect(result.inputs).toHaveLength(4);
  });

  it('is not an entry that leads out of the folder', async () => {
    symlinkSync(join(home, 'host/.env.ts'), join(root, 'a.ts'));
    expect(await diagnosticOf()).toMatchObject({ code: 'import-refused', file: 'a.ts' });
  });
});

describe('findRefusedBuiltin', () => {
  it('knows an add-on in the error of a package that tried several', () => {
    const message = `Could not load the module\nmodule.require("../build/x.node") is refused: the sandbox has no Node built-in "module" with it.`;
    expect(findRefusedBuiltin({ message })).toEqual({ kind: 'native-addon' });
    expect(findRefusedBuiltin({ message: 'The file a.node is refused.' })).toBeUndefined();
  });
});
