import { describe, expect, it } from 'vitest';
import { backOffMs, CrashCount } from '../../../../src/engines/process/back-off.ts';
import { denoArguments, fileFlagsOf, keyOfFlags, noFiles } from '../../../../src/engines/process/deno/deno-flags.ts';
import { splitLines } from '../../../../src/engines/process/guest-output.ts';

describe('backOffMs', () => {
  it('lets one crash pass, then doubles up to ten seconds', () => {
    expect([0, 1, 2, 3, 4, 8, 9, 50].map(backOffMs)).toEqual([0, 0, 100, 200, 400, 6400, 10_000, 10_000]);
  });
});

describe('CrashCount', () => {
  it('counts the crashes of a program in a row, from the last one on', () => {
    let now = 0;
    const crashes = new CrashCount(() => now);
    crashes.crashed('a');
    expect(crashes.waitMs('a')).toBe(0);
    crashes.crashed('a');
    crashes.crashed('a');
    expect([crashes.waitMs('a'), crashes.waitMs('b')]).toEqual([200, 0]);
    now = 150;
    expect(crashes.waitMs('a')).toBe(50);
    crashes.recovered('a');
    expect(crashes.waitMs('a')).toBe(0);
  });

  it('forgets the oldest of very many programs', () => {
    const crashes = new CrashCount(() => 0);
    for (let n = 0; n < 3; n++) crashes.crashed('old');
    for (let n = 0; n < 1000; n++) crashes.crashed(`p${n}`);
    expect(crashes.waitMs('old')).toBe(0);
  });
});

describe('denoArguments', () => {
  const start = { runner: '/r.js', heapMb: 100 };

  it('denies everything to a process without files', () => {
    const words = denoArguments({ ...start, files: noFiles });
    expect(words.filter((word) => word.startsWith('--allow'))).toEqual(['--allow-sys=ca']);
    expect(words).toEqual(
      expect.arrayContaining(['--no-prompt', '--deny-net', '--deny-env', '--deny-run', '--deny-ffi', '--deny-import']),
    );
    expect(words.at(-1)).toBe('/r.js');
  });

  it('allows exactly the granted paths', () => {
    const workspace = { dir: '/w', read: ['a', 'a/../b', '../out', '/etc', 'x,/etc'], write: ['b'], maxFileBytes: 10 };
    const files = fileFlagsOf(workspace, ['.env'], { barred: ['/w/a/link'], above: ['/w/a'] });
    expect(files).toEqual({
      cwd: '/w',
      read: ['/w/a', '/w/b'],
      write: ['/w/b'],
      denyRead: ['/w/.env', '/w/a/link'],
      denyWrite: ['/w/.env', '/w/a/link', '/w/a'],
      maxFileBytes: 10,
    });
    const words = denoArguments({ ...start, files: files ?? noFiles });
    expect(words).toEqual(
      expect.arrayContaining([
        '--allow-read=/w/a,/w/b',
        '--allow-write=/w/b',
        '--deny-read=/w/.env,/w/a/link',
        '--deny-write=/w/.env,/w/a/link,/w/a',
      ]),
    );
  });

  it('never means the whole disk by an empty list', () => {
    const files = fileFlagsOf({ dir: '/w', read: ['../out'], write: [] }, [], { barred: [], above: [] });
    expect(
      denoArguments({ ...start, files: files ?? noFiles }).filter((word) => /^--(allow|deny)-(read|write)/.test(word)),
    ).toEqual([]);
  });
});

describe('fileFlagsOf', () => {
  const scan = { barred: [], above: [] };

  it('gives nothing where what is barred cannot be said', () => {
    const workspace = { dir: '/w', read: ['.'], write: [] };
    expect(fileFlagsOf(workspace, [], { barred: ['/w/a,b'], above: [] })).toBeUndefined();
    expect(fileFlagsOf(workspace, [], { barred: ['/w/'.padEnd(200_000, 'x')], above: [] })).toBeUndefined();
  });

  it('gives no path that is barred, or lies under one that is', () => {
    const files = fileFlagsOf({ dir: '/w', read: ['link', 'link/a', 'linked'], write: [] }, [], {
      barred: ['/w/link'],
      above: [],
    });
    expect(files?.read).toEqual(['/w/linked']);
  });

  it('has another key for other denials', () => {
    const workspace = { dir: '/w', read: ['.'], write: [] };
    const keys = [scan, { barred: ['/w/a'], above: [] }].map((each) => keyOfFlags(fileFlagsOf(workspace, [], each) ?? noFiles));
    expect(new Set(keys).size).toBe(2);
  });
});

describe('splitLines', () => {
  it('cuts lines, characters and endless output into bounds', () => {
    const lines: string[] = [];
    let floods = 0;
    const write = splitLines(
      (line) => lines.push(line),
      () => floods++,
    );
    const euro = Buffer.from('a€\n\nb');
    write(euro.subarray(0, 2));
    write(euro.subarray(2));
    write(Buffer.from('c\n'));
    write(Buffer.alloc(100_000, 'x'));
    write(Buffer.from('\n'));
    expect(lines.map((line) => line.slice(0, 20))).toEqual(['a€', 'bc', 'x'.repeat(20)]);
    expect(lines.at(-1)).toHaveLength(16_384);
    for (let n = 0; n < 65; n++) write(Buffer.alloc(1024 * 1024));
    expect(floods).toBeGreaterThan(0);
  });
});
