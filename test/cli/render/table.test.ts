import { describe, expect, it } from 'vitest';
import { createStyle } from '../../../src/cli/render/style.ts';
import { renderFacts, renderTable } from '../../../src/cli/render/table.ts';

const plain = createStyle({ isTTY: false, env: {} });

describe('renderTable', () => {
  it('keeps columns under their heads, and cuts the last one, with wide characters too', () => {
    const rows = [
      { plugin: '天気', state: 'proposed', about: '晴れ'.repeat(40) },
      { plugin: 'greet', state: 'proposed', about: 'short' },
    ];
    const columns = [
      { head: 'PLUGIN', text: (row: (typeof rows)[number]) => row.plugin },
      { head: 'STATE', text: (row: (typeof rows)[number]) => row.state },
      { head: 'ABOUT', text: (row: (typeof rows)[number]) => row.about },
    ];
    const [head = '', first = '', second = ''] = renderTable(rows, columns, 100).split('\n');
    const at = head.indexOf('STATE');
    expect(second.slice(at)).toMatch(/^proposed/);
    // Two characters of two columns each.
    expect(first.slice(at - 2)).toMatch(/^proposed/);
    expect(first).toMatch(/晴れ晴?…$/);
    expect([...first].reduce((sum, char) => sum + (char > '\u2e80' ? 2 : 1), 0)).toBeLessThanOrEqual(100);
  });
});

describe('renderFacts', () => {
  it('shows a fact a line under its label, later lines below the first, and nothing of what is absent', () => {
    const facts = [
      ['name', 'weather'],
      ['absent', undefined],
      ['empty', ''],
      ['lines', 'one\ntwo'],
    ] satisfies [string, string | undefined][];
    expect(renderFacts(facts, plain)).toBe('  name    weather\n  lines   one\n          two\n');
    expect(renderFacts(facts.slice(0, 1), plain, '')).toBe('name  weather\n');
  });
});
