import { describe, expect, it } from 'vitest';
import { restoreCheck } from '../../src/typescript/restore-check.ts';

type Texts = Readonly<Record<string, string>>;
const toFiles = (texts: Texts) => Object.entries(texts).map(([name, text]) => ({ name, text }));
const restore = (before: Texts | string, after: Texts | string) => {
  const [old, now] = [before, after].map((each) => (typeof each === 'string' ? { '/p/a.ts': each } : each)) as [Texts, Texts];
  const [entry = ''] = Object.keys(old);
  const restored = restoreCheck({ entry, name: 'healthcheck', before: toFiles(old), after: toFiles(now) });
  return restored && Object.fromEntries(restored.map(({ name, text }) => [name, text]));
};

const plugin = `import { probe } from './probe.ts';
const split = (text) => text.split(';');
function expected() { return 2; }
export default {
  handler: ({ text }) => split(text),
  healthcheck: () => { if (split(probe()).length !== expected()) throw new Error('no'); },
};
`;
const probe = "const made = 'a,b';\nexport const probe = () => made;\nexport const other = 1;\n";
const files = { '/p/a.ts': plugin, '/p/probe.ts': probe };
const mended = plugin.replace("split(';')", "split(',')");

describe('restoreCheck', () => {
  it('has nothing to do where only what is checked was changed', () => {
    expect(restore(files, files)).toEqual({});
    expect(restore(files, { ...files, '/p/a.ts': mended })).toEqual({});
  });

  it('puts the check back, and keeps the rest of the change', () => {
    const changed = mended.replace('if (split(probe()).length !== expected())', 'if (false)');
    expect(restore(files, { ...files, '/p/a.ts': changed })).toEqual({ '/p/a.ts': mended });
    const gone = mended.replace(/healthcheck: .*/, 'async healthcheck() {},');
    expect(restore(files, { ...files, '/p/a.ts': gone })?.['/p/a.ts']).toContain('split(probe()).length !== expected()');
  });

  it('puts back what nothing but the check refers to, in every file', () => {
    expect(restore(files, { ...files, '/p/a.ts': plugin.replace('return 2', 'return 1') })).toEqual({ '/p/a.ts': plugin });
    expect(restore(files, { ...files, '/p/probe.ts': probe.replace('a,b', 'a;b') })).toEqual({ '/p/probe.ts': probe });
    expect(restore(files, { ...files, '/p/probe.ts': probe.replace('other = 1', 'other = 2') })).toEqual({});
    const away = plugin.replace("import { probe } from './probe.ts';", 'const probe = () => "a;b";');
    expect(restore(files, { ...files, '/p/a.ts': away })?.['/p/a.ts']).toBe(plugin);
    const removed = plugin.replace('function expected() { return 2; }\n', '').replace('expected()', '1');
    expect(restore(files, { ...files, '/p/a.ts': removed })?.['/p/a.ts']).toContain('function expected() { return 2; }');
  });

  it('puts back what a change left to the check alone', () => {
    const moved = plugin
      .replace(
        "const split = (text) => text.split(';');",
        "const split = () => ['a', 'b'];\nconst cut = (text) => text.split(';');",
      )
      .replace('=> split(text)', '=> cut(text)');
    expect(restore(files, { ...files, '/p/a.ts': moved })?.['/p/a.ts']).toContain("const split = (text) => text.split(';');");
  });

  it('takes out what stands between the check and a global of the sandbox', () => {
    const shadowed = `const Error = class {};\n${plugin}`;
    expect(restore(files, { ...files, '/p/a.ts': shadowed })?.['/p/a.ts']).toBe(`\n${plugin}`);
  });

  it('knows a check that is exported, written as a method, or named only', () => {
    const named = 'const limit = 1;\nexport const healthcheck = () => limit;\nexport const handler = () => 1;\n';
    expect(restore(named, named.replace('limit = 1', 'limit = 2'))).toEqual({ '/p/a.ts': named });
    const short = 'const healthcheck = () => 1;\nexport default { handler: () => 1, healthcheck };\n';
    expect(restore(short, short.replace('() => 1;', '() => 2;'))).toEqual({ '/p/a.ts': short });
    const method = 'export default class { handler() { return 1; } healthcheck() { return 1; } }\n';
    expect(restore(method, method.replace('healthcheck() { return 1', 'healthcheck() { return 2'))).toEqual({
      '/p/a.ts': method,
    });
    const outside = {
      '/p/a.ts': "export { default } from './b.ts';\n",
      '/p/b.ts': 'export default { healthcheck: () => 1, handler: () => 1 };\n',
    };
    const edited = { ...outside, '/p/b.ts': outside['/p/b.ts'].replace('() => 1,', '() => 2,') };
    expect(restore(outside, edited)).toEqual({ '/p/b.ts': outside['/p/b.ts'] });
  });

  it('cannot tell where there is no check, or more than one', () => {
    expect(restore('export default {};', 'export default {};')).toBeUndefined();
    const two = 'export default { healthcheck: () => 1, other: { healthcheck: () => 2 } };';
    expect(restore(two, two)).toBeUndefined();
  });
});
