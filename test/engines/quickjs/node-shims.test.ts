import { builtinModules, createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleNodeBuiltins, nodeBuiltinShims, refusedBuiltins } from '../../../src/guests/node-builtins.ts';
import { startWebGuest, type WebGuest } from './web-api-guest.ts';

const requireInNode = createRequire(import.meta.url);
const fixtures = fileURLToPath(new URL('./fixtures/node-shims/', import.meta.url));

let guest: WebGuest;
let shims: ReadonlyMap<string, string>;
beforeAll(async () => {
  guest = await startWebGuest();
  shims = new Map(Object.entries(await bundleNodeBuiltins()));
});
afterAll(() => guest.close());

/** Bundles a fixture, in which `require` and `import` name built-ins, and runs the function that it exports in the guest. */
async function runInGuest(fixture: string): Promise<unknown> {
  const result = await build({
    stdin: { contents: `globalThis.bodyForTest = require('./${fixture}.cjs');`, resolveDir: fixtures, loader: 'js' },
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    target: 'es2023',
    plugins: [
      {
        name: 'shims',
        setup(builder) {
          builder.onResolve({ filter: /^[^.]/ }, ({ path }) => ({
            path: path.replace(/^node:/, ''),
            namespace: 'shim',
            sideEffects: false,
          }));
          builder.onLoad({ filter: /.*/, namespace: 'shim' }, ({ path }) => ({ contents: shims.get(path) ?? '', loader: 'js' }));
        },
      },
    ],
  });
  return guest.run(`${result.outputFiles[0]?.text}\nreturn globalThis.bodyForTest();`);
}

async function expectSameAsNode(fixture: string): Promise<void> {
  const inNode: unknown = await requireInNode(join(fixtures, `${fixture}.cjs`))();
  expect(await runInGuest(fixture)).toEqual(JSON.parse(JSON.stringify(inNode)));
}

describe('nodeBuiltinShims', () => {
  it('and refusedBuiltins cover every built-in of Node once', () => {
    const all = builtinModules.map((name) => name.replace(/^node:/, ''));
    expect(all.filter((name) => nodeBuiltinShims.has(name) === refusedBuiltins.has(name))).toEqual([]);
    expect([...refusedBuiltins].filter(([, instead]) => !/^[A-Z].*\.$/.test(instead))).toEqual([]);
  });

  it('can be imported whole, by name and as default, and required', async () => {
    expect(await runInGuest('imports')).toEqual(['a/b', 'a/b', true, 'function', 'function', 'function', 'function', '/']);
  });
});

describe('node:path', () => {
  it('works on single paths as in Node', async () => {
    await expectSameAsNode('path-single');
  });

  it('works on pairs as in Node', async () => {
    await expectSameAsNode('path-pairs');
  });

  it('refuses what is no path as Node does', async () => {
    await expectSameAsNode('path-refusals');
  });
});

describe('node:buffer', () => {
  it('converts text in every encoding as Node does', async () => {
    await expectSameAsNode('buffer-encodings');
  });

  it('makes, joins, compares and searches as Node does', async () => {
    await expectSameAsNode('buffer-operations');
  });

  it('reads and writes numbers as Node does', async () => {
    await expectSameAsNode('buffer-numbers');
  });

  it('is the global Buffer', async () => {
    expect(await runInGuest('buffer-global')).toEqual([true, true, 'hi']);
  });
});

describe('node:crypto', () => {
  it('hashes as Node does', async () => {
    await expectSameAsNode('crypto-hashes');
  });

  it('draws random values in range', async () => {
    expect(await runInGuest('crypto-random')).toEqual([[3, 4, 5], 100000, 36, 0]);
    await expect(runInGuest('crypto-unknown-hash')).rejects.toThrow('sha256');
  });
});

describe('node:zlib', () => {
  it('has classes that packages extend, as in Node', async () => {
    await expectSameAsNode('zlib-classes');
  });
});

describe('node:events', () => {
  it('emits as Node does', async () => {
    await expectSameAsNode('events-emit');
  });

  it('keeps a permanent listener beside the same one for once, and tells monitors of errors', async () => {
    await expectSameAsNode('events-once-and-monitor');
  });

  it('iterates over events', async () => {
    await expectSameAsNode('events-iterate');
  });
});

describe('node:assert', () => {
  it('accepts and refuses as Node does', async () => {
    await expectSameAsNode('assert-pairs');
  });

  it('checks what is thrown as Node does', async () => {
    await expectSameAsNode('assert-throws');
  });
});

describe('node:util', () => {
  it('works as in Node', async () => {
    await expectSameAsNode('util');
  });

  it('shows and formats values as Node does', async () => {
    await expectSameAsNode('inspect');
  });
});

describe('node:url and node:querystring', () => {
  it('parse, format and resolve as Node does', async () => {
    await expectSameAsNode('url');
  });

  it('handle queries as Node does', async () => {
    await expectSameAsNode('querystring');
  });
});

describe('node:string_decoder', () => {
  it('joins what chunks cut as Node does', async () => {
    await expectSameAsNode('string-decoder');
  });
});

describe('node:timers', () => {
  it('wait with promises as in Node', async () => {
    await expectSameAsNode('timers');
  });
});
