import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createTypeChecker, usualCheckerBounds } from '../../src/typescript/checker.ts';

const checker = createTypeChecker({ ...usualCheckerBounds, maxCheckMs: 20_000 }, 'inspect');
afterAll(() => checker.close());
const root = fileURLToPath(new URL('../../', import.meta.url));
const by = { callerId: 'a', signal: new AbortController().signal };
const inspect = (
  files: Readonly<Record<string, string>>,
  packageDirs: readonly string[] = [],
  fixNames: readonly string[] = [],
) =>
  checker.inspect(
    { files: Object.entries(files).map(([name, text]) => ({ name, text })), packageDirs, fixNames, declarations: true },
    by,
  );

describe('inspect', () => {
  it('knows the plugin API: a healthy plugin has no fault, and a wrong name of it has one with the right one', async () => {
    const notes = readFileSync(join(root, 'plugins/notes.ts'), 'utf8');
    expect((await inspect({ '/p/notes.ts': notes })).faults).toEqual([]);
    const { faults, fixes } = await inspect(
      { '/p/a.ts': "import { definePlugn } from 'hotcell';\nexport default definePlugn({ handler: () => 1 });" },
      [],
      ['spelling'],
    );
    expect(faults).toMatchObject([{ code: 2724, line: 1, column: 10 }]);
    expect(fixes).toMatchObject([{ fixName: 'spelling', edits: [{ newText: 'definePlugin' }] }]);
    const engine = "import { definePlugin } from 'hotcell';\nexport default definePlugin({ engine: 'denno', handler: () => 1 });";
    expect((await inspect({ '/p/a.ts': engine })).faults[0]?.message).toContain('Did you mean \'"deno"\'');
    expect((await inspect({ '/p/a.ts': engine.replace('denno', 'deno') })).faults).toEqual([]);
  });

  it('has no fault to say of any example plugin', async () => {
    for (const name of readdirSync(join(root, 'plugins')).filter((file) => /\.[cm]?[jt]s$/.test(file))) {
      const path = join(root, 'plugins', name);
      const { faults } = await inspect({ [path]: readFileSync(path, 'utf8') });
      // Packages are not looked for here.
      expect(
        faults.filter(({ code }) => code !== 2307 && code !== 7016),
        name,
      ).toEqual([]);
    }
  });

  it('quotes the declarations that an error speaks of', async () => {
    const { declarations } = await inspect({
      '/p/a.ts':
        "interface City { name: string }\nimport type { Context } from 'hotcell';\nexport default { handler: (a: City, context: Context) => a.nam + context.kv.gett('x') };",
    });
    expect(declarations.map(({ name }) => name)).toEqual(expect.arrayContaining(['City', 'PluginKeyValues']));
    expect(declarations.find(({ name }) => name === 'City')?.text).toBe('interface City { name: string }');
  });

  it('gives only fixes that were asked for, of one file', async () => {
    const text = 'export default { handler: () => helper(1) };';
    expect((await inspect({ '/p/a.ts': text }, [], ['spelling', 'import'])).fixes).toEqual([]);
  });

  it('reads no file of the machine, whatever a text refers to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hotcell-inspect-'));
    const packages = join(folder, 'plugins', 'node_modules');
    mkdirSync(join(packages, 'inside'), { recursive: true });
    writeFileSync(join(folder, 'secret.d.ts'), 'declare const secret: "root:x";');
    writeFileSync(join(folder, 'secret.json'), '{"secret": "root:x"}');
    writeFileSync(join(packages, 'inside', 'index.d.ts'), 'export declare const inside: 1;');
    writeFileSync(join(packages, 'inside', 'source.ts'), "export const secret = 'root:x' as const;");
    symlinkSync(join(folder, 'secret.d.ts'), join(packages, 'inside', 'link.d.ts'));
    symlinkSync(folder, join(packages, 'leads-out'));
    const path = join(folder, 'plugins', 'a.ts');
    try {
      for (const text of [
        `/// <reference path="../secret.d.ts" />\nconst x: 1 = secret;`,
        `import x from '../secret.json';\nconst y: 1 = x;`,
        `import '${folder}/secret.d.ts';\nconst y: 1 = secret;`,
        `import x from 'leads-out/secret.json';\nconst y: 1 = x;`,
        `import 'leads-out/secret';\nconst y: 1 = secret;`,
        `/// <reference types="../secret" />\nconst y: 1 = secret;`,
        `const y: 1 = await import('../../../../../../etc/passwd');`,
        `const y: import('../secret').secret = 1;`,
        // A file of a package that is a link, and one that is no declaration.
        `import 'inside/link';\nconst y: 1 = secret;`,
        `import { secret } from 'inside/source.ts';\nconst y: 1 = secret;`,
      ]) {
        const { faults, declarations } = await inspect({ [path]: text }, [packages]);
        expect(faults.length, text).toBeGreaterThan(0);
        expect(JSON.stringify([faults, declarations]), text).not.toContain('root:x');
      }
      expect(
        (await inspect({ [path]: "import { inside } from 'inside';\nexport const one: 1 = inside;" }, [packages])).faults,
      ).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('refuses a text that is too long, outlives one that nests too deep, and goes on', async () => {
    await expect(inspect({ '/p/a.ts': 'x;'.repeat(600_000) })).rejects.toMatchObject({ code: 'payload-too-large' });
    const deep = inspect({ '/p/a.ts': `export default ${'['.repeat(60_000)}${']'.repeat(60_000)};` });
    await expect(
      deep.then(
        () => 'done',
        (error: { code?: string }) => error.code,
      ),
    ).resolves.toMatch(/^(?:done|stack-exceeded|time-exceeded|memory-exceeded)$/);
    expect((await inspect({ '/p/a.ts': 'export default 1;' })).faults).toEqual([]);
  });

  it('ends types without end', async () => {
    const quick = createTypeChecker({ ...usualCheckerBounds, maxCheckMs: 2000 }, 'inspect');
    const endless = `type Grow<T extends unknown[]> = T['length'] extends 40 ? T : Grow<[...T, unknown]> | Grow<[unknown, ...T, 0]> | Grow<[1, ...T]>;
const found: Grow<[]> = null as never; export default found;`;
    const asked = quick.inspect({ files: [{ name: '/p/a.ts', text: endless }], packageDirs: [] }, by);
    await expect(asked).rejects.toMatchObject({ code: expect.stringMatching(/^(?:time|memory)-exceeded$/) });
    await quick.close();
  });
});

describe('parse', () => {
  it('counts what is wrong with the syntax of each variant', async () => {
    const variants = [[], [{ start: 9, length: 0, newText: ';' }], [{ start: 0, length: 5, newText: 'cnost' }]];
    const counts = await checker.parse({ name: 'a.ts', text: 'const x =1', variants }, by);
    expect(counts[0]).toBe(0);
    expect(counts[1]).toBe(1);
    expect(counts[2]).toBeGreaterThan(0);
  });
});
