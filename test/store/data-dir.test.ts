import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolders, prepareDataDir } from '../../src/store/data-dir.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hotcell-data-dir-'));
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

describe('prepareDataDir', () => {
  it.runIf(process.platform === 'linux')('refuses a place where no folder can be, with words', () => {
    expect(() => prepareDataDir('/proc/hotcell')).toThrow(
      'The data directory /proc/hotcell cannot be created or opened (ENOENT).',
    );
  });

  it('closes a folder of its own to others', () => {
    mkdirSync(join(home, 'open'), { mode: 0o755 });
    prepareDataDir(join(home, 'open'));
    expect(statSync(join(home, 'open')).mode & 0o777).toBe(0o700);
  });
});
