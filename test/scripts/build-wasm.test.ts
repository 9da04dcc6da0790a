import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildModule, listSources } from '../../scripts/build-wasm.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-wasm-'));
const committed = new URL('../../wasm/', import.meta.url);
// Another version of the compiler gives other bytes.
const hasClang = versionOf('clang').includes('version 14.');

afterAll(() => rmSync(folder, { recursive: true }));

function versionOf(program: string): string {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return '';
  }
}

describe('buildModule', () => {
  const isThere: Readonly<Record<string, boolean>> = { '.wat': true, '.c': hasClang, '.as.ts': false };
  if (!hasClang) process.stderr.write('SKIPPED building of C sources: needs clang 14 (apt-get install clang lld).\n');

  it.each(listSources().filter(({ kind }) => isThere[kind]))(
    'makes of its source what is checked in as $target',
    async (source) => {
      const built = join(folder, source.target);
      await buildModule(source, built);
      expect(readFileSync(built).equals(readFileSync(new URL(source.target, committed)))).toBe(true);
    },
  );
});

describe('listSources', () => {
  it('knows a source for every module that is checked in', () => {
    expect(
      listSources()
        .map(({ target }) => target)
        .sort(),
    ).toEqual(['count-vowels.wasm', 'fuzzy-match.wasm', 'text-digest.wasm']);
  });
});
