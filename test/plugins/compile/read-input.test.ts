import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maxFileBytes, readInput } from '../../../src/plugins/compile/read-input.ts';
import { readBuildInput as readWatched } from '../../../src/plugins/watch/seen.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hotcell-read-'));
  writeFileSync(join(folder, 'a.ts'), 'text');
  writeFileSync(join(folder, 'large.ts'), Buffer.alloc(maxFileBytes + 1));
  symlinkSync(join(folder, 'a.ts'), join(folder, 'link.ts'));
  execFileSync('mkfifo', [join(folder, 'pipe.ts')]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('readInput', () => {
  it('reads a regular file', () => {
    expect(readInput(join(folder, 'a.ts'))).toMatchObject({ text: 'text', bytes: 4 });
    expect(readWatched(join(folder, 'a.ts'))).toMatchObject({ path: join(folder, 'a.ts') });
  });

  it.each([
    ['link.ts', 'not-regular'],
    ['pipe.ts', 'not-regular'],
    ['', 'not-regular'],
    ['large.ts', 'too-large'],
    ['none.ts', 'missing'],
    ['a.ts/none.ts', 'missing'],
  ])('does not read %s, which may have been put there after the look', (name, failure) => {
    expect(readInput(join(folder, name))).toBe(failure);
    if (failure !== 'too-large') expect(readWatched(join(folder, name))).toBeUndefined();
  });
});
