import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutants } from '../long/mutants.ts';
import { readPage, repository } from './markdown.ts';

const cellsOf = (row: string) =>
  row
    .split('|')
    .map((cell) => cell.trim())
    .slice(1, -1);

describe('docs/coverage.md', () => {
  const rows = (readPage('docs/coverage.md').match(/^\| \d.*$/gm) ?? []).map(cellsOf);

  it('has a row for every feature, in order', () => {
    const numbers = Array.from({ length: 107 }, (_, index) => `${index + 1}`);
    const wanted = numbers.flatMap((number) => (['37', '70', '106'].includes(number) ? [number, `${number}b`] : [number]));
    expect(rows.map(([number]) => number)).toEqual(wanted);
  });

  it('says of each whether it is there, and shows or explains it', () => {
    const known = ['done', 'different', 'not ours', 'planned'];
    expect(rows.filter(([, , status = '']) => !known.includes(status))).toEqual([]);
    expect(rows.filter(([, feature, , reason]) => !feature || !reason)).toEqual([]);
    // Whatever is done has a test; that the files exist is checked for all pages.
    expect(rows.filter(([, , status, reason = '']) => status === 'done' && !/`test\/[\w/.-]+\.test\.ts`/.test(reason))).toEqual(
      [],
    );
  });
});

describe('docs/threat-model.md', () => {
  const [promises = ''] = readPage('docs/threat-model.md').split('## Not defended');
  const rows = (promises.match(/^\| (?!Promise|-).*$/gm) ?? []).map(cellsOf);

  it('names for every promise a test that attacks it', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter(([, tests = '']) => !/^(?:`test\/[\w/.-]+\.test\.ts`(?:, )?)+$/.test(tests))).toEqual([]);
  });

  it('has for every promise a defence that can be taken out, and none for a promise that is not made', () => {
    const beginnings = new Set(mutants.map(({ promise }) => promise));
    const without = rows.filter(([row = '']) => ![...beginnings].some((promise) => row.startsWith(promise)));
    expect(without.map(([row]) => row)).toEqual([]);
    const unmade = [...beginnings].filter((promise) => rows.filter(([row = '']) => row.startsWith(promise)).length !== 1);
    expect(unmade).toEqual([]);
  });

  it.each(mutants)('finds the defence once, and the tests that must notice: $what ($file)', ({ file, find, replace, tests }) => {
    expect(readPage(file).split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    expect(tests).not.toEqual([]);
    expect(tests.filter((test) => !existsSync(join(repository, test)))).toEqual([]);
  });
});
