import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createCompiler } from '../../../src/plugins/compile/compile.ts';
import type { CompileTarget } from '../../../src/plugins/compile/compile-types.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-targets-')));
const compiler = createCompiler({
  sharedDirs: [],
  builtins: new Map([['path', async () => 'export const join = 1;']]),
  refusedBuiltins: new Map(),
});
afterAll(async () => {
  await compiler.close();
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

async function compile(target: CompileTarget, text: string) {
  write('a.ts', text);
  return compiler.compile({ entry: join(root, 'a.ts'), rootDir: root, pluginDir: root, isFolder: true, target });
}

async function codeFor(target: CompileTarget, text: string): Promise<string> {
  const built = await compile(target, text);
  if (!built.ok) throw new Error(built.diagnostic.message);
  return built.code;
}

describe.each<CompileTarget>(['deno', 'docker'])('a bundle for %s', (target) => {
  it('is a module whose built-ins are imports of the runtime, by one name', async () => {
    const code = await codeFor(
      target,
      "import { join } from 'path';\nimport fs from 'node:fs';\nexport default { a: join, b: fs };",
    );
    expect(code).toMatch(/from "node:path"/);
    expect(code).toMatch(/from "node:fs"/);
    expect(code).toMatch(/export \{/);
    expect(code).not.toContain('__hotcellExports');
  });

  it('takes packages as Node does, and tells them no path of this machine', async () => {
    write('node_modules/both/package.json', '{"exports":{"browser":"./b.js","node":"./n.js","default":"./d.js"}}');
    for (const face of ['b', 'n', 'd'])
      write(`node_modules/both/${face}.js`, `exports.face = 'face-${face} ' + __dirname + __filename;`);
    const code = await codeFor(target, "import { face } from 'both';\nexport default { face };");
    expect(code).toContain('face-n');
    expect(code).not.toMatch(/face-[bd]/);
    expect(code).toContain('face-n /plugin/plugin/index.js');
    expect(code).not.toContain(root);
  });

  it('keeps modern syntax', async () => {
    const code = await codeFor(
      target,
      'export default { handler: async () => { class A { #b = 1n; static { A.c ??= 2; } } return A; } };',
    );
    expect(code).toMatch(/#b = 1n/);
  });
});

describe('a bundle for quickjs', () => {
  it('has built-ins inside and is a script', async () => {
    const code = await codeFor('quickjs', "import { join } from 'path';\nexport default { join };");
    expect(code).toContain('__hotcellExports');
    expect(code).not.toMatch(/from "/);
  });
});

describe('programs', () => {
  const text = "import { execSync } from 'node:child_process';\nexport default { execSync };";

  it('are started in a container only', async () => {
    expect(await compile('deno', text)).toMatchObject({
      ok: false,
      diagnostic: { code: 'builtin-refused', line: 1, fix: expect.stringContaining("engine: 'docker'") },
    });
    expect(await codeFor('docker', text)).toContain('from "node:child_process"');
  });
});

describe('node:tls for deno', () => {
  it('comes from the module object, of which the engine replaces functions', async () => {
    const text = "import { connect } from 'tls';\nexport default { connect };";
    expect(await codeFor('deno', text)).toMatch(/import (\w+) from "node:tls";[\s\S]*\bconnect\b[\s\S]*\} = \1;/);
    expect(await codeFor('docker', text)).toMatch(/import \{ connect \} from "node:tls"/);
    write('node_modules/old/index.js', "module.exports = require('tls');");
    expect(await codeFor('deno', "import old from 'old';\nexport default { old };")).toMatch(/require\("node:tls"\)/);
  });
});
