import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAtOrInside, isInside, makeFolders } from '../../src/file-system/paths.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hotcell-paths-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe('makeFolders', () => {
  it('makes all that is missing above a folder, and leaves what is there', () => {
    makeFolders(join(home, 'a', 'b', 'c'), 0o700);
    makeFolders(join(home, 'a', 'b', 'c'), 0o755);
    expect(statSync(join(home, 'a', 'b', 'c')).mode & 0o777).toBe(0o700);
  });

  it('does not take a file for a folder', () => {
    writeFileSync(join(home, 'file'), '');
    expect(() => makeFolders(join(home, 'file'))).toThrow(/EEXIST/);
    expect(() => makeFolders(join(home, 'file', 'below'))).toThrow(/ENOTDIR/);
  });

  it.runIf(process.platform === 'linux')('comes to an end where a file system takes no folders', () => {
    expect(() => makeFolders('/proc/hotcell/data')).toThrow(/ENOENT/);
  });
});

describe('isInside', () => {
  it('compares by segments, and takes a folder for none of what lies in it', () => {
    expect(['/a/b', '/a/..b', '/a', '/ab', '/'].map((path) => isInside('/a', path))).toEqual([true, true, false, false, false]);
    expect(isAtOrInside('/a', '/a')).toBe(true);
    expect(isInside('/', '/a')).toBe(true);
  });
});
