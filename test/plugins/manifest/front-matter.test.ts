import { describe, expect, it } from 'vitest';
import { readFrontMatter } from '../../../src/plugins/manifest/front-matter.ts';

declare global {
  var wasRun: boolean | undefined;
}

describe('readFrontMatter', () => {
  it('reads YAML 1.2 above the text, whatever the line ends and with a byte order mark', () => {
    const text = '\uFEFF---\r\nname: pdf\r\nanswer: no\r\nnested:\r\n  list: [1, two]\r\n---\r\nBody\r\n';
    expect(readFrontMatter(text)).toEqual({
      ok: true,
      data: { name: 'pdf', answer: 'no', nested: { list: [1, 'two'] } },
      body: 'Body\r\n',
    });
  });

  it.each([
    ['no front matter', '# Title', {}],
    ['a rule instead of front matter', '----\nname: x\n', {}],
    ['empty front matter', '---\n---\nBody', {}],
    ['front matter that names YAML', '---yaml\nname: x\n---\n', { name: 'x' }],
    ['front matter that is only a comment', '---\n# nothing\n---\n', {}],
  ])('reads %s', (_what, text, data) => {
    expect(readFrontMatter(text)).toMatchObject({ ok: true, data });
  });

  it.each(['js', 'javascript', 'JS', ' js', 'coffee', 'json', 'toml', '__proto__', 'constructor', 'yaml js'])(
    'runs nothing that is written in "%s"',
    (language) => {
      globalThis.wasRun = undefined;
      const read = readFrontMatter(`---${language}\n{ name: (globalThis.wasRun = true) }\n---\n`);
      expect(read).toMatchObject({ ok: false });
      expect(globalThis.wasRun).toBeUndefined();
    },
  );

  it.each([
    ['a list', '---\n- a\n---\n'],
    ['a text', '---\njust text\n---\n'],
    ['broken YAML', '---\nname: [\n---\n'],
    ['a tag of another language', '---\nname: !!js/function "function(){}"\nb: [\n---\n'],
    [
      'a bomb of aliases',
      `---\na: &a [x]\n${'bcdefgh'.replace(/./g, (c) => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}---\n`,
    ],
    ['front matter of which the comments would be looked for for ever', `---\na: b${'\n'.repeat(60_000)}---\n`],
    ['front matter that is too long', `---\n${'a: b\n'.repeat(40_000)}---\n`],
    ['front matter without end', `---\n${'a: b\n'.repeat(40_000)}`],
    ['what is nested too deeply', `---\na: ${'['.repeat(30_000)}\n---\n`],
  ])('refuses %s with a whole sentence', (_what, text) => {
    const read = readFrontMatter(text);
    expect(read.ok).toBe(false);
    if (!read.ok) expect(read.reason).toMatch(/^Its front matter .*\.$/);
  });

  it('keeps what looks like a prototype as data of its own', () => {
    const read = readFrontMatter('---\n__proto__:\n  polluted: true\nname: x\n---\n');
    expect(read).toMatchObject({ ok: true, data: { name: 'x' } });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(new Map(Object.entries({})).size).toBe(0);
  });
});
