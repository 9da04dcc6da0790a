import { describe, expect, it } from 'vitest';
import { matchersOf } from '../../src/permissions/matchers.ts';
import { parsePermissions, parseRequestedPermissions } from '../../src/permissions/parse.ts';
import { parsePermissionWords } from '../../src/permissions/permission-words.ts';
import { asking, openBook } from './grant-books.ts';

const dangerous = { dangerous: ['shell'] };
const always = { scope: 'always' } as const;

describe('parseRequestedPermissions', () => {
  it.each([[['shell']], [['*']], [[]], [true], [false], [null]])('refuses a plugin that asks for dangerous: %j', (value) => {
    expect(parseRequestedPermissions({ net: ['a.com'], dangerous: value })).toEqual({
      ok: false,
      key: 'dangerous',
      message: expect.stringContaining('only the operator'),
    });
  });

  it('reads everything else as parsePermissions does', () => {
    expect(parseRequestedPermissions(undefined)).toEqual({ ok: true, permissions: {} });
    expect(parseRequestedPermissions({ net: ['a.com'] })).toEqual(parsePermissions({ net: ['a.com'] }));
    expect(parseRequestedPermissions({ nte: ['a.com'] })).toEqual(parsePermissions({ nte: ['a.com'] }));
  });
});

describe('dangerous', () => {
  it('is granted in words, matches names and globs, and is taken back', () => {
    const words = parsePermissionWords(['dangerous=shell', 'dangerous=rm_*']);
    expect(words).toEqual({ ok: true, permissions: { dangerous: ['shell', 'rm_*'] } });
    const { book } = openBook();
    book.create({ asking: asking({}), permissions: { dangerous: ['shell', 'rm_*'] }, scope: always, grantedBy: 'local' });
    const matchers = matchersOf(book.decide(asking({})).granted);
    expect(['shell', 'rm_all', 'shells', 'rm'].map((name) => matchers.allowsDangerous(name))).toEqual([true, true, false, false]);
    book.revoke({ unitPath: '/plugins/weather.ts', permissions: { dangerous: ['rm_all'] } }, 'local');
    expect(book.decide(asking({})).granted).toEqual({ dangerous: ['shell'] });
  });

  it('comes from a preset, never from --grant-requested', () => {
    expect(openBook({ presets: { weather: dangerous } }).book.decide(asking({})).granted).toEqual(dangerous);
    expect(openBook({ grantRequested: true }).book.decide(asking({ kv: true })).granted).toEqual({ kv: true });
  });

  it('does not hold for a build of another hand until that content was granted', () => {
    const { book } = openBook({ presets: { weather: dangerous } });
    book.create({ asking: asking({}), permissions: dangerous, scope: always, grantedBy: 'local' });
    const repaired = asking({}, { contentHash: 'hash-2', author: 'repair' });
    expect(book.decide(repaired).granted).toEqual({});
    book.create({ asking: repaired, permissions: dangerous, scope: always, grantedBy: 'local' });
    expect(book.decide(repaired).granted).toEqual(dangerous);
  });
});
