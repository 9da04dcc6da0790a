import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareDataDir } from '../../src/store/data-dir.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hotcell-data-dir-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

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
