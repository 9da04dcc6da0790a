import { describe, expect, it } from 'vitest';
import { buildModule } from '../../../../src/engines/extism/build/build-module.ts';
import type { FreezeRequest } from '../../../../src/engines/extism/build/freeze.ts';
import { loadPrelude } from '../../../../src/guests/prelude.ts';

const prelude = await loadPrelude(process.env.HOTCELL_WARM_DATA ?? '');

function request(body: string): FreezeRequest {
  return {
    code: `globalThis.__hotcellExports = (() => { ${body} })();`,
    sourceMap: '{"version":3,"mappings":"","sources":[]}',
    fileBase: 'made',
    tools: [{ name: 'made', handler: 'default', exportName: 'made', description: '', input: { type: 'object' }, examples: [] }],
    sidecar: '{}',
    memoryBytes: 64 * 1024 * 1024,
  };
}

describe('buildModule', () => {
  it('ends a plugin that does not come to an end', async () => {
    const build = buildModule(request('for (;;) {}'), { prelude, bounds: { wallMs: 700 } });
    await expect(build).rejects.toMatchObject({ code: 'time-exceeded' });
  });

  it('ends when it is told to', async () => {
    const stop = new AbortController();
    const build = buildModule(request('for (;;) {}'), { prelude, bounds: { wallMs: 60_000, signal: stop.signal } });
    setImmediate(() => stop.abort(new Error('enough')));
    await expect(build).rejects.toThrow('enough');
  });

  it('says that the thread ended without an answer, and does not wait out its time', async () => {
    process.once('worker', (thread) => void thread.terminate());
    const build = buildModule(request('for (;;) {}'), { prelude, bounds: { wallMs: 3_600_000 } });
    await expect(build).rejects.toMatchObject({ code: 'load-failed', message: expect.stringContaining('ended early') });
  });

  it.each([
    ['throw new TypeError("on load")', 'TypeError: on load'],
    ['return { default: { onLoad: () => { throw new Error("in onLoad"); }, handler() {} } }', 'in onLoad'],
    ['return { default: { onLoad: () => new Promise(() => {}), handler() {} } }', 'onLoad did not settle'],
    ['return { default: { onLoad: () => fetch("https://example.com"), handler() {} } }', 'not available while the plugin loads'],
  ])('says what a plugin threw when it was loaded: %s', async (body, message) => {
    const result = await buildModule(request(body), { prelude, bounds: { wallMs: 20_000 } });
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(message) });
  });

  it('keeps what onLoad made', async () => {
    const body = 'let ready = 0; return { default: { onLoad: async () => { await null; ready = 7; }, handler: () => ready } }';
    const result = await buildModule(request(body), { prelude, bounds: { wallMs: 20_000 } });
    expect(result.ok).toBe(true);
  });
});
