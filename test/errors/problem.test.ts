import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorCatalog } from '../../src/errors/catalog.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { describeProblem, joinFixes } from '../../src/errors/problem.ts';

const codes = Object.keys(errorCatalog).filter((code): code is ErrorCode => code in errorCatalog);

describe('errorCatalog', () => {
  it.each(codes)('%s has a title, a next step and an HTTP status', (code) => {
    const row = errorCatalog[code];
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(row.title).toMatch(/^[A-Z][^.]{3,60}$/);
    expect(row.fix).toMatch(/^[A-Z].+\.$/);
    expect(row.status === 200 || (row.status >= 400 && row.status < 600)).toBe(true);
  });

  it('has no title twice', () => {
    const titles = codes.map((code) => errorCatalog[code].title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

describe('describeProblem', () => {
  it.each(codes)('%s becomes problem details of RFC 9457', (code) => {
    const problem = describeProblem(new HotcellError(code, 'A whole sentence.'));
    expect(problem).toEqual({
      type: `urn:hotcell:error:${code}`,
      title: errorCatalog[code].title,
      status: errorCatalog[code].status,
      detail: 'A whole sentence.',
      code,
      fix: errorCatalog[code].fix,
    });
  });

  it('carries facts, which cannot replace the members of the standard', () => {
    const error = new HotcellError('tool-unknown', 'No tool.', { facts: { near: ['weather'], status: 200, code: 'x' } });
    expect(describeProblem(error)).toMatchObject({ near: ['weather'], status: 404, code: 'tool-unknown' });
  });

  it('shows the fix of the error before that of the catalog', () => {
    expect(describeProblem(new HotcellError('conflict', 'Taken.', { fix: 'Stop it.' })).fix).toBe('Stop it.');
  });
});

describe('joinFixes', () => {
  it.each([
    ['Do less.', 'Allow it with: hotcell grant a net=b', 'Do less. Allow it with: hotcell grant a net=b'],
    ['Allow it with: hotcell grant a net=b', 'Do less.', 'Do less. Allow it with: hotcell grant a net=b'],
    ['Do less.', 'Or wait.', 'Do less. Or wait.'],
    ['', 'Do less.', 'Do less.'],
  ])('lets nothing follow a command: %s + %s', (first, second, both) => {
    expect(joinFixes(first, second)).toBe(both);
  });
});
