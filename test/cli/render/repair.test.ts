import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { renderRepair } from '../../../src/cli/render/repair.ts';
import { createStyle } from '../../../src/cli/render/style.ts';
import type { RepairItem } from '../../../src/operations/contracts/repairs.ts';

const coloured = createStyle({ isTTY: true, env: {} });
const plain = createStyle({ isTTY: false, env: {} });
const esc = '\u001b';

function repair(diff: string, more: Partial<RepairItem> = {}): RepairItem {
  return {
    id: 'rep_1',
    plugin: 'greet',
    path: 'plugins/greet.ts',
    class: 'does-not-compile',
    state: 'proposed',
    reason: 'A person decides about it.',
    failure: { code: 'compile-failed', message: 'Unexpected ";".', fix: 'Mend it.', file: 'greet.ts', line: 2 },
    contentHash: 'c',
    tried: 1,
    tokens: 0,
    cost: 0,
    startedAtMs: 0,
    attempts: [],
    proposal: { by: 'brackets', author: 'repair', sureness: 'sure', note: 'One was missing.', diff, asks: [], files: [] },
    ...more,
  };
}
const patch = (...lines: readonly string[]) => `--- a/greet.ts\n+++ b/greet.ts\n${lines.join('\n')}\n`;
const hunk = (before: string, after: string) => patch('@@ -1,2 +1,2 @@', ' {', `-${before}`, `+${after}`);
const lastLines = (text: string, count: number) => text.trimEnd().split('\n').slice(-count);

describe('renderRepair', () => {
  it('colours what goes and what comes, for a person alone', () => {
    const shown = renderRepair(repair(hunk('a', 'b')), coloured);
    expect(lastLines(shown, 5)).toEqual([
      `${esc}[1m+++ b/greet.ts${esc}[22m`,
      `${esc}[36m@@ -1,2 +1,2 @@${esc}[39m`,
      ' {',
      `${esc}[31m-a${esc}[39m`,
      `${esc}[32m+b${esc}[39m`,
    ]);
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      expect(renderRepair(repair(hunk('a', 'b')), createStyle({ isTTY: true, env }))).not.toContain(esc);
    expect(renderRepair(repair(hunk('a', 'b')), plain)).toBe(stripVTControlCharacters(shown));
    expect(renderRepair(repair(hunk('a', 'b')), createStyle({ isTTY: false, env: { FORCE_COLOR: '1' } }))).toBe(shown);
  });

  it('names a file only where the difference does: a changed line that looks like one is a changed line', () => {
    const sly = patch('@@ -1,2 +1,2 @@', ' {', '--- a/other.ts', '+++ b/other.ts', '@@ -7,1 +7,1 @@', '-x', '+y');
    expect(lastLines(renderRepair(repair(sly), coloured), 5)).toEqual([
      `${esc}[31m--- a/other.ts${esc}[39m`,
      `${esc}[32m+++ b/other.ts${esc}[39m`,
      `${esc}[36m@@ -7,1 +7,1 @@${esc}[39m`,
      `${esc}[31m-x${esc}[39m`,
      `${esc}[32m+y${esc}[39m`,
    ]);
  });

  it.each([
    ['a space without width', 'a +\u200b 1', 'a +<U+200B> 1'],
    ['a space of a word processor', 'a +\u00a01', 'a +<U+00A0>1'],
    ['a text that runs the other way', '// \u202e ;nur', '// <U+202E> ;nur'],
    ['a sequence for the terminal', '// \u001b]0;owned\u0007\u001b[2J', '// <U+001B>]0;owned<U+0007><U+001B>[2J'],
    ['a line that begins again', 'evil()\rgood()', 'evil()<U+000D>good()'],
    ['a sign behind which bytes hide', 'a\ufe01\u{e0101}', 'a<U+FE01><U+E0101>'],
  ])('shows %s as what it is', (_what, line, seen) => {
    const shown = lastLines(renderRepair(repair(hunk(line, 'x')), plain), 2);
    expect(shown).toEqual([`-${seen}`, '+x']);
    // Nothing of it reaches a terminal by the other texts either.
    const { failure, proposal } = repair('');
    const told = { ...repair(''), plugin: line, reason: line, failure: { ...failure, message: line } };
    const text = renderRepair({ ...told, ...(proposal && { proposal: { ...proposal, note: line, asks: [line] } }) }, plain);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  });

  it('leaves wide characters, tabs, pictures and the line ends of Windows alone', () => {
    expect(lastLines(renderRepair(repair(hunk("\tconst 名 = '日本' // ❤️", '名')), plain), 2)).toEqual([
      "-\tconst 名 = '日本' // ❤️",
      '+名',
    ]);
    const windows = patch('@@ -1,2 +1,2 @@', ' {\r', '-a\r', '+b\r');
    expect(lastLines(renderRepair(repair(windows), plain), 3)).toEqual([' {', '-a', '+b']);
    expect(lastLines(renderRepair(repair(hunk('a\r', 'a')), plain), 2)).toEqual(['-a<U+000D>', '+a']);
  });
});
