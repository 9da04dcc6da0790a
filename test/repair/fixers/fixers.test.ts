import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goodPlugins } from '../../../bench/repair/good-plugins.ts';
import { openWorkbench, type PluginTexts } from '../../../bench/repair/workbench.ts';
import { applyFixers } from '../../../src/repair/fixers/apply-fixers.ts';
import type { Fixer } from '../../../src/repair/fixers/fixer.ts';
import { fixers } from '../../../src/repair/fixers/fixer-table.ts';
import { sharedTypes } from '../../shared-builds.ts';

let bench: Awaited<ReturnType<typeof openWorkbench>>;
beforeAll(async () => {
  bench = await openWorkbench({ ...sharedTypes });
}, 120_000);
afterAll(() => bench.close());

/** The text of the entry after the fixers, and how sure they are; `builds` false where nothing that builds was found. */
async function mend(files: PluginTexts | string) {
  const laid = typeof files === 'string' ? { 'a.ts': files } : files;
  const source = bench.lay(laid);
  const failure = await bench.findFailure(source, []);
  if (failure === undefined) throw new Error('The plugin should fail.');
  const { proposal, builds, steps } = await bench.mend(source, failure);
  const [text] = proposal?.files.values() ?? [];
  return { failure, builds, text, sureness: proposal?.sureness, by: proposal?.by, steps: steps.length, source };
}

const plugin = (body: string, keys = '') =>
  `export default {\n  description: 'Adds.',${keys}\n  handler: async (args: { a: number; b: number }) => {\n${body}\n  },\n};\n`;
const good = plugin('    return args.a + args.b;');

/** What is broken, the fixer that mends it, and the whole text that must come of it. */
const whole = (name: string, use: string) =>
  `import ${name} from 'plain';\nexport default { description: 'Adds.', handler: (args: { a: number }) => ${use} };\n`;
/** A package without a default export. */
const plainPackage: PluginTexts = {
  'node_modules/plain/package.json': '{ "name": "plain", "type": "module", "exports": "./index.js" }',
  'node_modules/plain/index.js': 'export const add = (a) => a + 1;\nexport const two = 2;\n',
};

const sure: readonly [what: string, by: string, before: string, after: string][] = [
  ['a Markdown fence', 'pasted-text', `\`\`\`typescript\n${good}\`\`\`\n`, good],
  ['a fence without an end', 'pasted-text', `\n\`\`\`ts\n${good}`, good],
  [
    'line numbers',
    'pasted-text',
    good
      .trimEnd()
      .split('\n')
      .map((line, index) => `${index + 1}: ${line}`)
      .join('\n'),
    good,
  ],
  ['the marks of a difference', 'pasted-text', good.trimEnd().replace(/^/gm, '+'), good],
  ['typographic quotes', 'odd-characters', good.replace("'Adds.'", '“Adds.”'), good.replace("'Adds.'", '"Adds."')],
  ['a space that has no width', 'odd-characters', good.replace('return', '\u200breturn'), good],
  ['a text without an end', 'quotes', good.replace("'Adds.',", "'Adds,"), good.replace("'Adds.'", "'Adds'")],
  [
    'a misspelt keyword',
    'keywords',
    good.replace('return', 'retrun').replace('export', 'exprot').replace('exprot', 'export'),
    good,
  ],
  ['a block without an end', 'brackets', good.replace('  },\n};', '};'), good.replace('  },\n};', '  }\n};')],
  ['a plugin without an end', 'brackets', good.replace('};\n', ''), good.replace('};\n', '}\n')],
  [
    'a call without arguments that is not closed',
    'brackets',
    plugin('    return args.a > 1 ? String(args.a).trim( : String(args.b);'),
    plugin('    return args.a > 1 ? String(args.a).trim() : String(args.b);'),
  ],
  ['no comma before the next key', 'expected-tokens', good.replace("'Adds.',", "'Adds.'"), good],
  ['no arrow', 'expected-tokens', good.replace(') => {', ') {'), good],
  [
    'no equals sign',
    'expected-tokens',
    plugin('    const c args.a;\n    return c;'),
    plugin('    const c = args.a;\n    return c;'),
  ],
  ['a misspelt key', 'manifest', good.replace('description', 'descripton'), good],
  [
    'a short version',
    'manifest',
    plugin('    return 1;', "\n  version: 'v2.1',"),
    plugin('    return 1;', "\n  version: '2.1.0',"),
  ],
  [
    'a key that nobody reads',
    'manifest',
    plugin('    return 1;', "\n  author: 'me',"),
    plugin('    return 1;', "\n  metadata: { author: 'me' },"),
  ],
  [
    'a flag as text',
    'manifest',
    plugin('    return 1;', "\n  idempotent: 'true',"),
    plugin('    return 1;', '\n  idempotent: true,'),
  ],
  [
    'a plugin that is not exported',
    'module-forms',
    good.replace('export default', 'const adder ='),
    `${good.replace('export default', 'const adder =')}\nexport default adder;\n`,
  ],
  [
    'CommonJS in an ES module',
    'module-forms',
    `export const version = 1;\n${good.replace('export default', 'module.exports =')}`,
    `export const version = 1;\n${good}`,
  ],
  [
    'a misspelt hotcell',
    'imports',
    `import { definePlugin } from 'hotcel';\nexport default definePlugin({ handler: () => 1 });\n`,
    `import { definePlugin } from 'hotcell';\nexport default definePlugin({ handler: () => 1 });\n`,
  ],
  [
    'a package for a global',
    'imports',
    `import fetch from 'cross-fetch';\n${plugin('    return typeof fetch;')}`,
    plugin('    return typeof fetch;'),
  ],
  [
    'npm: before the package of the daemon',
    'imports',
    `import { z } from 'npm:zod';\n${plugin('    return z.number().parse(args.a);')}`,
    `import { z } from 'zod';\n${plugin('    return z.number().parse(args.a);')}`,
  ],
  [
    'a slip in the name of a built-in',
    'builtins',
    `import { createHash } from 'node:cryto';\n${plugin('    return typeof createHash;')}`,
    `import { createHash } from 'node:crypto';\n${plugin('    return typeof createHash;')}`,
  ],
  [
    'a built-in that the sandbox has not, and nobody uses',
    'builtins',
    `const fs = require('fs');\nexport default { handler: () => 1 };\n`,
    'export default { handler: () => 1 };\n',
  ],
  [
    'random ids of a package',
    'imports',
    `import { v4 } from 'uuid';\n${plugin('    return v4().length;')}`,
    `const v4 = () => crypto.randomUUID();\n${plugin('    return v4().length;')}`,
  ],
  [
    'the same function twice',
    'slips',
    `function one() {\n  return 1;\n}\n\nfunction one() {\n  return 1;\n}\n\n${plugin('    return one();')}`,
    `function one() {\n  return 1;\n}\n\n\n${plugin('    return one();')}`,
  ],
  [
    'no comma between the members of an enum',
    'expected-tokens',
    `enum Size {\n  Small = 1\n  Large = 2,\n}\n${plugin('    return Size.Large;')}`,
    `enum Size {\n  Small = 1,\n  Large = 2,\n}\n${plugin('    return Size.Large;')}`,
  ],
  [
    'a short version that is exported',
    'manifest',
    "export const version = '1.2';\nexport const description = 'One.';\nexport const handler = () => 1;\n",
    "export const version = '1.2.0';\nexport const description = 'One.';\nexport const handler = () => 1;\n",
  ],
  ['a fence with carriage returns', 'pasted-text', `\`\`\`ts\r\n${good.replaceAll('\n', '\r\n')}\`\`\`\r\n`, good],
  [
    'await in a plain function',
    'typescript',
    plugin('    const f = () => await args.a;\n    return f();'),
    plugin('    const f = async () => await args.a;\n    return f();'),
  ],
  [
    'an assignment to a constant',
    'typescript',
    plugin('    const c = 1;\n    c += args.a;\n    return c;'),
    plugin('    let c = 1;\n    c += args.a;\n    return c;'),
  ],
];

/** What could have been meant otherwise: never sure. */
const guesses: readonly [what: string, text: string][] = [
  ['prose around a fence', `This adds:\n\`\`\`ts\n${good}\`\`\`\nDone.\n`],
  ['a lost parenthesis', plugin('    return Math.round((args.a + args.b * 100) / 100;')],
  ['a lost operator', plugin('    return { sum: args.a b };')],
  ['a lost opening parenthesis', plugin('    return Math.round(args.a * args.b + 1));')],
  ['a lost brace of parameters', good.replace('async (args', 'async ( args })').replace('async ( args })', 'async ( args }')],
  ['a text that is cut', good.slice(0, good.indexOf('return') + 12)],
  ['a name with a space', plugin('    return 1;', "\n  name: 'my adder',")],
  ['dots in place of code', plugin('    const sum = args.a + args.b;\n    ...\n    return sum;')],
  ['two blocks of which one is a plugin', `\`\`\`ts\n${good}\`\`\`\n\n\`\`\`ts\nawait call('a');\n\`\`\`\n`],
  ['two constants of one name', `const rate = 7;\nconst rate = 19;\n${plugin('    return rate;')}`],
  ['other errors beside a slip', plugin('    retrun args.a +;')],
  ['two sides of a merge', plugin('<<<<<<< HEAD\n    return 1;\n=======\n    return 2;\n>>>>>>> theirs')],
  ['a text with a comma and no end', good.replace("'Adds.',", "'Adds, and more;,")],
];

/** Nothing is known that would mend it. */
const hopeless: readonly [what: string, text: string][] = [
  ['a package that nobody has', "import left from 'left-pad-nowhere';\nexport default { handler: () => left };"],
  ['a permission that does not exist', plugin('    return 1;', "\n  permissions: { nett: ['a.example'] },")],
  ['an engine that does not exist', plugin('    return 1;', "\n  engine: 'quickjss',")],
  ['a misspelt block of permissions', plugin('    return 1;', "\n  permission: { net: ['a.example'] },")],
  ['an isolation of other letters', plugin('    return 1;', "\n  isolation: 'Plugin',")],
];

describe('applyFixers', () => {
  it.each(sure)('mends %s (%s), and is sure', async (_what, by, before, after) => {
    const mended = await mend(before);
    expect(mended).toMatchObject({ by, sureness: 'sure', builds: true });
    expect(mended.text).toBe(after);
  });

  it.each(guesses)('only guesses at %s', async (_what, text) => {
    expect((await mend(text)).sureness).not.toBe('sure');
  });

  it.each(hopeless)('leaves %s', async (_what, text) => {
    expect((await mend(text)).builds).toBe(false);
  });

  it('finds the file that was meant, by its name', async () => {
    const files = {
      'fold/index.ts': "import { one } from './lib/one.ts';\nexport default { handler: () => one };\n",
      'fold/one.ts': 'export const one = 1;\n',
    };
    expect(await mend(files)).toMatchObject({
      text: "import { one } from './one.ts';\nexport default { handler: () => one };\n",
      sureness: 'sure',
    });
  });

  it('imports all of a package that has no default export', async () => {
    const mended = await mend({ 'a.ts': whole('plain', 'plain.add(args.a) + plain.two'), ...plainPackage });
    expect(mended).toMatchObject({ by: 'imports', sureness: 'sure', builds: true });
    expect(mended.text).toBe(whole('* as plain', 'plain.add(args.a) + plain.two'));
    const called = await mend({ 'a.ts': whole('plain', 'plain(args.a)'), ...plainPackage });
    expect(called.sureness).not.toBe('sure');
  });

  it('takes several errors out one after the other', async () => {
    const mended = await mend(`\`\`\`ts\n${good.replace('description', 'descripton').replace("'Adds.',", '“Adds.”,')}\`\`\``);
    expect(mended).toMatchObject({ builds: true, steps: 3, sureness: 'sure' });
    expect(mended.text).toBe(good.replace("'Adds.'", '"Adds."'));
  });

  it('reads a name off the types where a call showed that it is wrong', async () => {
    const source = bench.lay({ 'a.ts': plugin('    return args.a.toFixd(1);') });
    const failure = await bench.findFailure(source, [{ args: { a: 1, b: 2 }, expect: '1.0' }]);
    expect(failure).toMatchObject({ class: 'runtime-error', line: 4 });
    const { proposal } = failure ? await bench.mend(source, failure) : {};
    expect([...(proposal?.files.values() ?? [])]).toEqual([plugin('    return args.a.toFixed(1);')]);
  });

  it('knows a member by a near name, however short it is, and goes on until every name is there', async () => {
    const text = (member: string, word: string, builtin: string) =>
      `import { createHash } from 'node:${builtin}';\n${plugin(`    const isLong = ${word};\n    return [typeof createHash, isLong].${member}('-');`)}`;
    expect(await mend(text('joim', 'True', 'cripto'))).toMatchObject({ sureness: 'sure', text: text('join', 'true', 'crypto') });
    // Nothing is near: what builds fails when it is called.
    expect((await mend(text('concatenateAll', 'true', 'cripto'))).sureness).toBe('maybe');
  });

  it.each([
    [
      "import { readFileSync } from 'node:fs';\n",
      "handler: ({ name }: { name: string }) => {\n    return readFileSync(name, 'utf8').length;\n  }",
      'handler: async ({ name }: { name: string }, context) => {\n    return (await context.files.read(name)).length;\n  }',
    ],
    [
      "import fs from 'fs/promises';\n",
      "async handler({ name }: { name: string }, ctx) {\n    await fs.writeFile(name, 'a, b');\n    return fs.rm(name, { force: true });\n  }",
      "async handler({ name }: { name: string }, ctx) {\n    (await ctx.files.write(name, 'a, b'));\n    return (await ctx.files.delete(name, { recursive: true }));\n  }",
    ],
  ])('guesses at the files of the workspace for files of the machine', async (imported, before, after) => {
    const around = (handler: string) => `export default {\n  description: 'Reads.',\n  ${handler},\n};\n`;
    expect(await mend(imported + around(before))).toMatchObject({ text: around(after), sureness: 'maybe' });
  });

  it('leaves files that a handler does not open itself', async () => {
    const text =
      "import { readFileSync } from 'node:fs';\nconst all = readFileSync('a', 'utf8');\nexport default { handler: () => all };\n";
    expect((await mend(text)).builds).toBe(false);
  });

  it('waits for what the host answers where a trial shows that it helps', async () => {
    const text =
      'export default {\n  handler: async ({ key }, { kv }) => {\n    const value = kv.get(key);\n    return (value ?? []).map((item) => item.id);\n  },\n};\n';
    const source = bench.lay({ 'a.js': text });
    const failure = {
      path: source.path,
      class: 'runtime-error',
      key: 'k',
      code: 'handler-threw',
      message: 'TypeError: not a function',
      fix: '',
    } as const;
    const { signal } = new AbortController();
    const diagnosis = await bench.diagnoser.diagnose({ source, name: 'a', failure, signal });
    const parts = { checker: bench.checker, check: bench.diagnoser.check, signal };
    const accept = async ({ files }: { files: ReadonlyMap<string, string> }) =>
      [...files.values()].join().includes('await kv.get');
    const { proposal } = await applyFixers(diagnosis, { ...parts, accept });
    expect(proposal).toMatchObject({ sureness: 'maybe', by: 'awaits' });
    expect([...(proposal?.files.values() ?? [])]).toEqual([text.replace('kv.get', 'await kv.get')]);
    expect(await applyFixers(diagnosis, parts)).not.toHaveProperty('proposal');
  });

  it('keeps no change that makes nothing better', async () => {
    const text = good.replace('return', 'retrun');
    const source = bench.lay({ 'a.ts': text });
    const failure = await bench.findFailure(source, []);
    if (failure === undefined) throw new Error('The plugin should fail.');
    const { signal } = new AbortController();
    const diagnosis = await bench.diagnoser.diagnose({ source, name: 'a', failure, signal });
    const useless: Fixer = ({ sources }) =>
      [...sources].map(([path, own]) => ({
        file: { path, text: own },
        edits: [{ start: own.length, length: 0, newText: '// nothing\n' }],
        note: 'Nothing.',
        sureness: 'sure',
      }));
    const parts = { checker: bench.checker, check: bench.diagnoser.check, signal };
    const { proposal } = await applyFixers(diagnosis, parts, { useless, ...fixers });
    expect([...(proposal?.files.values() ?? [])]).toEqual([good]);
  });

  it('takes back what a trial does not accept, and looks at the next', async () => {
    const source = bench.lay({ 'a.ts': plugin('    return Math.round((args.a + args.b * 100) / 100;') });
    const failure = await bench.findFailure(source, []);
    if (failure === undefined) throw new Error('The plugin should fail.');
    const { signal } = new AbortController();
    const diagnosis = await bench.diagnoser.diagnose({ source, name: 'a', failure, signal });
    const seen: string[] = [];
    const accept = async ({ files }: { files: ReadonlyMap<string, string> }) => {
      seen.push(...files.values());
      return seen.length === 2;
    };
    const parts = { checker: bench.checker, check: bench.diagnoser.check, signal };
    const { proposal } = await applyFixers(diagnosis, { ...parts, accept });
    expect(seen.length).toBe(2);
    expect(seen[0]).not.toBe(seen[1]);
    expect([...(proposal?.files.values() ?? [])]).toEqual([seen[1]]);
    expect(await applyFixers(diagnosis, { ...parts, accept: async () => false })).not.toHaveProperty('proposal');
  });
});

describe('fixers', () => {
  it('have no change for a healthy plugin, whatever is said to be wrong with it', async () => {
    const codes = ['compile-failed', 'import-unresolved', 'load-failed', 'export-missing', 'manifest-invalid'] as const;
    for (const { files } of goodPlugins) {
      const source = bench.lay(files);
      for (const code of codes) {
        const failure = {
          path: source.path,
          class: 'does-not-compile',
          key: 'k',
          code,
          message: 'Something is wrong.',
          fix: '',
        } as const;
        const { proposal } = await bench.mend(source, failure);
        expect(proposal, `${source.name} ${code}`).toBeUndefined();
      }
    }
  });

  it('never touch what a plugin may do', async () => {
    const permissions =
      "permissions: { net: ['api.example.com'], env: ['KEY'], kv: true }, isolation: 'call', limits: { cpuMs: 100 }";
    for (const [what, , before] of sure) {
      if (!before.includes('  description: ')) continue;
      const text = before.replace('  description: ', `  ${permissions}, description: `);
      const source = bench.lay({ 'a.ts': text });
      const failure = await bench.findFailure(source, []);
      if (failure === undefined) continue;
      const { proposal } = await bench.mend(source, failure);
      for (const mended of proposal?.files.values() ?? []) expect(mended, what).toContain(permissions);
    }
  });

  it('are short work for a hostile text', async () => {
    // The long run has them in full.
    const part = process.env.HOTCELL_LONG === undefined ? 4 : 1;
    const texts = [
      `export default { handler: () => ${'('.repeat(50_000 / part)} };`,
      `${'<<<<<<< a\n'.repeat(9_000 / part)}`,
      `const a = '${')'.repeat(90_000 / part)}`,
      `${'`'.repeat(50_000 / part + 1)}`,
      `${'/*'.repeat(40_000 / part)} x`,
      `\`\`\`ts\n${'x '.repeat(60_000 / part)}`,
      `${'case '.repeat(20_000 / part)}`,
      'x'.repeat(10_000_000 / part),
    ];
    for (const text of texts) {
      const source = bench.lay({ 'a.ts': text });
      const failure = {
        path: source.path,
        class: 'does-not-compile',
        key: 'k',
        code: 'compile-failed',
        message: 'x',
        fix: '',
        file: 'a.ts',
        line: 1,
        column: 1,
      } as const;
      expect(await bench.mend(source, failure)).toMatchObject({ builds: false });
    }
  }, 300_000);
});
