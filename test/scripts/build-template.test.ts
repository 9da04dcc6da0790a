import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildTemplate } from '../../scripts/build-template.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-template-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('buildTemplate', () => {
  // Freezing the template takes tens of seconds: `npm run test:long template`.
  it.runIf(process.env.HOTCELL_LONG)('makes of its sources what is checked in', { timeout: 120_000 }, async () => {
    const target = join(folder, 'runtime.wasm');
    await buildTemplate(target);
    const committed = readFileSync(new URL('../../src/guests/portable/runtime.wasm', import.meta.url));
    expect(readFileSync(target).equals(committed)).toBe(true);
  });

  it('imports nothing that a host of Extism may lack', () => {
    const module = new WebAssembly.Module(readFileSync(new URL('../../src/guests/portable/runtime.wasm', import.meta.url)));
    const imports = WebAssembly.Module.imports(module);
    expect(new Set(imports.map((each) => each.module))).toEqual(new Set(['extism:host/env', 'wasi_snapshot_preview1']));
    expect(imports.map(({ name }) => name)).not.toContain('http_headers');
  });
});
