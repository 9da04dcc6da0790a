import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildQuickJs, describeQuickJs } from '../../scripts/build-quickjs.ts';
import { quickJsFile } from '../../src/engines/quickjs/cell/instance.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-quickjs-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('buildQuickJs', () => {
  it('made what is checked in, of the package that is installed; else run `npm run build:wasm`', async () => {
    expect(readFileSync(quickJsFile).includes(await describeQuickJs())).toBe(true);
  });

  // It takes some twenty seconds: `npm run test:long template`.
  it.runIf(process.env.HOTCELL_LONG)('makes it again byte for byte', { timeout: 240_000 }, async () => {
    const target = join(folder, 'quickjs.wasm');
    await buildQuickJs(target);
    expect(readFileSync(target).equals(readFileSync(quickJsFile))).toBe(true);
  });
});
