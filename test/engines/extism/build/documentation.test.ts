import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { readBlocks, repository } from '../../../docs/markdown.ts';
import { buildPath, moduleOf } from './build-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-page-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the host of docs/build.md', () => {
  it('prints what the page says', async () => {
    for (const { file, text } of readBlocks('docs/build.md').filter((block) => block.file !== undefined)) {
      mkdirSync(dirname(join(folder, file ?? '')), { recursive: true });
      writeFileSync(join(folder, file ?? ''), text);
    }
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'letters.wasm'), moduleOf(await buildPath(join(folder, 'letters', 'letters.ts'))));
    const { stdout } = await promisify(execFile)(process.execPath, ['host.mjs'], { cwd: folder });
    expect(stdout).toMatch(
      /^\{ letters: 5 \}\n.*RangeError: an empty text has no letters\n {4}at handler \(letters\.ts:8:\d+\)\n$/,
    );
  });
});
