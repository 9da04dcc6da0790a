import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hookEventNames } from '../../src/hooks/hook-events.ts';
import { readHookFiles } from '../../src/hooks/hook-files.ts';
import { readHookManifest } from '../../src/hooks/manifest.ts';
import { readBlocks, readPage } from '../docs/markdown.ts';

describe('docs/hooks.md', () => {
  it('shows hooks that are valid', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hotcell-hook-page-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const files = readBlocks('docs/hooks.md').flatMap(({ file, text }) => (file === undefined ? [] : [{ file, text }]));
    for (const { file, text } of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    const dirs = [...new Set(files.map(({ file }) => join(folder, dirname(file))))];
    const engines = dirs.map((dir) => readHookManifest(readHookFiles(dir).files).engine);
    expect(engines).toEqual(['quickjs', 'shell']);
  });

  it('names every event', () => {
    const page = readPage('docs/hooks.md');
    expect(hookEventNames.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
