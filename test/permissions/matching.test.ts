import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchersOf } from '../../src/permissions/matchers.ts';
import { globMatches, hostMatches, netEntryCovers, pathMatches } from '../../src/permissions/matching.ts';
import { permissionSets } from './permission-sets.ts';

const hosts = fc.constantFrom('a.com', 'b.a.com', 'c.b.a.com', 'd.c.b.a.com', 'xa.com', 'com', '10.0.0.1', '[::1]');
const ports = fc.integer({ min: 1, max: 4 });
const paths = fc.constantFrom('.', 'a', 'a/b', 'a/b/c/d', 'ab', 'a b/c', 'b');

describe('hostMatches', () => {
  it.each([
    ['api.example.com', 'api.example.com', 443, true],
    ['api.example.com', 'x.api.example.com', 443, false],
    ['api.example.com:443', 'api.example.com', 80, false],
    ['*.example.com', 'a.b.example.com', 1, true],
    ['*.example.com', 'example.com', 1, false],
    ['*.example.com', 'badexample.com', 1, false],
    ['*.example.com', '.example.com', 1, false],
    ['*.example.com:80', 'a.example.com', 80, true],
    ['[::1]', '[::1]', 80, true],
    ['[::1]:81', '[::1]', 80, false],
  ])('%s for %s:%i is %s', (entry, host, port, expected) => {
    expect(hostMatches(entry, host, port)).toBe(expected);
  });
});

describe('netEntryCovers', () => {
  it('covers an entry only when it matches everything that the entry matches', () => {
    fc.assert(
      fc.property(permissionSets, permissionSets, hosts, ports, ({ net: wide = [] }, { net: narrow = [] }, host, port) => {
        for (const one of wide) {
          for (const other of narrow) {
            if (netEntryCovers(one, other) && hostMatches(other, host, port)) expect(hostMatches(one, host, port)).toBe(true);
          }
        }
      }),
    );
  });
});

describe('pathMatches', () => {
  it('ends a prefix at a separator', () => {
    expect(pathMatches('data', 'data')).toBe(true);
    expect(pathMatches('data', 'data/x')).toBe(true);
    expect(pathMatches('data', 'database')).toBe(false);
    expect(pathMatches('data/x', 'data')).toBe(false);
    expect(pathMatches('.', 'anything/below')).toBe(true);
    expect(pathMatches('data', '.')).toBe(false);
  });
});

describe('globMatches', () => {
  it('agrees with the same pattern as a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
    const glob = fc.array(fc.oneof(letters, fc.constant('*')), { maxLength: 5 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(glob, letters, (pattern, name) => {
        const expected = new RegExp(
          `^${pattern
            .split('*')
            .map((part) => part.replaceAll('.', '\\.'))
            .join('.*')}$`,
        ).test(name);
        expect(globMatches(pattern, name)).toBe(expected);
      }),
    );
  });
});

describe('matchersOf', () => {
  it('decides like the plain functions over the list', () => {
    fc.assert(
      fc.property(permissionSets, hosts, ports, paths, (set, host, port, path) => {
        const matchers = matchersOf(set);
        const entries = set.net ?? [];
        expect(matchers.allowsHost(host, port)).toBe(entries.some((entry) => hostMatches(entry, host, port)));
        expect(matchers.namesHost(host, port)).toBe(
          entries.some((entry) => !entry.startsWith('*') && hostMatches(entry, host, port)),
        );
        expect(matchers.allowsRead(path)).toBe((set.read ?? []).some((prefix) => pathMatches(prefix, path)));
        expect(matchers.allowsWrite(path)).toBe((set.write ?? []).some((prefix) => pathMatches(prefix, path)));
      }),
    );
  });

  it('allows nothing for an empty set', () => {
    const matchers = matchersOf({});
    expect(matchers.allowsHost('a.com', 80)).toBe(false);
    expect(matchers.allowsRead('.')).toBe(false);
    expect(matchers.allowsWrite('a')).toBe(false);
    expect(matchers.allowsEnv('A')).toBe(false);
    expect(matchers.allowsRun('ls')).toBe(false);
    expect(matchers.allowsTool('x')).toBe(false);
  });
});
