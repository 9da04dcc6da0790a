import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitTable } from '../../src/config/limits.ts';
import { nestsDeeper } from '../../src/config/read/json-nesting.ts';
import { loadConfig } from '../../src/config/read/load.ts';
import { settingsSchema } from '../../src/config/schema.ts';
import { embedSidecar, readEmbeddedSidecar } from '../../src/engines/extism/module/sidecar.ts';
import { parseStack } from '../../src/engines/guest-errors.ts';
import { applyDelta, encodeDelta, restoreReference } from '../../src/engines/quickjs/cell/delta.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { pluginKeys, readManifest } from '../../src/plugins/manifest/read-manifest.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';
import { parseToolRef } from '../../src/tools/tool-ref.ts';
import { createValidatorCache } from '../../src/tools/validation/validator.ts';
import { anyJson, anyText, fuzzParameters, fuzzTimeoutMs, nearlyRight, seeded } from './escape/fuzz.ts';

const timeout = fuzzTimeoutMs();

/** Runs something that may refuse, but only in our own words. */
function refusesAtMost(action: () => unknown): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof HotcellError)) throw error;
    expect(error.message.length).toBeLessThan(20_000);
  }
}

const handler = fc.constant({ $function: true });
const schema = nearlyRight(
  ['type', 'properties', 'required', 'items', 'pattern', '$ref', 'allOf', 'additionalProperties', 'enum', '$defs'],
  {
    type: fc.constantFrom('object', 'string', 'array', 'integer'),
    properties: fc.dictionary(anyText, anyJson, { maxKeys: 3 }),
    pattern: fc.oneof(anyText, fc.constantFrom('(a+)+$', '[', '(?<x>a)', '(a|a)*$')),
    $ref: fc.constantFrom('#', '#/$defs/a', 'file:///etc/passwd', 'http://127.0.0.1/x'),
  },
);
const tool = nearlyRight(['handler', 'description', 'parameters', 'usage', 'tags', 'examples'], {
  handler,
  description: anyText,
  parameters: schema,
  usage: anyText,
});
const plugin = nearlyRight([...pluginKeys], {
  handler,
  name: anyText,
  version: fc.constantFrom('1.0.0', '0.0.0-a', 'x'),
  description: anyText,
  parameters: schema,
  tools: fc.dictionary(anyText, tool, { maxKeys: 4 }),
  permissions: nearlyRight(['net', 'read', 'write', 'env', 'run', 'tools', 'llm', 'kv']),
  limits: nearlyRight(Object.keys(limitTable)),
});

describe('readManifest', () => {
  it(seeded('reads anything that a module may export, or says what is wrong'), { timeout }, () => {
    const validators = createValidatorCache();
    fc.assert(
      fc.property(fc.oneof(plugin, anyJson), fc.dictionary(anyText, fc.oneof(plugin, anyJson), { maxKeys: 3 }), (main, named) => {
        const result = readManifest({ exported: JSON.parse(JSON.stringify({ default: main, named })), fileName: 'fuzz.ts' });
        if (!result.ok) {
          expect(result.diagnostic.message).not.toBe('');
          expect(result.diagnostic.message.length).toBeLessThan(20_000);
          return;
        }
        for (const { input } of result.manifest.tools)
          refusesAtMost(() => validators.validatorOf(input).findIssues({ a: 'aaaaaaaaaaaaaaaaaaaaaaaa!' }, 30));
      }),
      fuzzParameters(500),
    );
  });
});

describe('embedSidecar', () => {
  const module = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  const sidecar = fc.oneof(
    nearlyRight(['export', 'tools', 'config', 'limits', 'name', 'description'], {
      export: anyText,
      tools: fc.dictionary(anyText, anyJson, { maxKeys: 3 }),
    }).map((data) => JSON.stringify(data)),
    anyText,
    fc.constantFrom('a: &a [*a, *a]', '!!js/function x', '? [1]: 2', '<<: {a: 1}', '- 1\n---\n- 2'),
  );
  it(seeded('takes any text beside any bytes, or refuses it'), { timeout }, () => {
    fc.assert(
      fc.property(
        sidecar,
        fc.constantFrom('x.json', 'x.yaml'),
        fc.oneof(fc.constant(module), fc.uint8Array({ maxLength: 60 })),
        (text, file, bytes) => {
          refusesAtMost(() => {
            const { exported } = readEmbeddedSidecar(embedSidecar('x.wasm', bytes, { file, text }));
            readManifest({ exported: { default: exported, named: {} }, fileName: 'x.wasm' });
          });
          refusesAtMost(() => readEmbeddedSidecar(Buffer.concat([module, bytes])));
        },
      ),
      fuzzParameters(500),
    );
  });
});

describe('loadConfig', () => {
  const settings = nearlyRight(Object.keys(settingsSchema.properties), {
    limits: nearlyRight(Object.keys(limitTable)),
    grants: fc.dictionary(anyText, nearlyRight(['net', 'read', 'kv']), { maxKeys: 2 }),
    plugins: fc.dictionary(anyText, fc.dictionary(anyText, anyJson, { maxKeys: 2 }), { maxKeys: 2 }),
  });
  it(seeded('reads any config file, or says what is wrong'), { timeout }, () => {
    const cwd = mkdtempSync(join(tmpdir(), 'hotcell-fuzz-'));
    const text = fc.oneof(
      settings.map((value) => JSON.stringify(value)),
      anyText,
    );
    fc.assert(
      fc.property(text, fc.constantFrom('json', 'yaml'), (content, extension) => {
        const file = join(cwd, `config.${extension}`);
        writeFileSync(file, content);
        refusesAtMost(() => loadConfig({ flags: { config: file }, env: {}, cwd, parsePermissions }));
        expect(Reflect.ownKeys(Object.prototype)).not.toContain('polluted');
      }),
      fuzzParameters(300),
    );
    rmSync(cwd, { recursive: true });
  });
});

describe('parseToolRef', () => {
  it(seeded('takes any text; the registry knows it or not'), { timeout }, () => {
    const registry = createToolRegistry();
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.tuple(anyText, anyText).map((parts) => parts.join('@')),
          fc.string({ maxLength: 400 }),
        ),
        (ref) => {
          expect(ref.startsWith(parseToolRef(ref).name)).toBe(true);
          expect(() => registry.resolve(ref)).toThrow(HotcellError);
        },
      ),
      fuzzParameters(1000),
    );
  });
});

describe('applyDelta', () => {
  const layout = { dataEnd: 4096, heapStart: 8192 };
  const reference = { bytes: Buffer.alloc(4096 + 8192), top: 16_384 };
  it(seeded('keeps any bytes inside the memory, or refuses them'), { timeout }, () => {
    const memory = Buffer.from(new ArrayBuffer(32_768));
    const header = fc
      .tuple(fc.nat(2 ** 32 - 1), fc.nat(5), fc.array(fc.nat(2 ** 32 - 1), { maxLength: 10 }))
      .map(([top, count, words]) => {
        const bytes = Buffer.alloc(8 + words.length * 4 + 64, 7);
        for (const [index, word] of [top, count, ...words].entries()) bytes.writeUInt32LE(word, index * 4);
        return new Uint8Array(bytes);
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), header), (delta) => {
        try {
          expect(applyDelta(memory, delta)).toBeLessThanOrEqual(memory.length);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
        restoreReference(memory, layout, reference, memory.length);
      }),
      fuzzParameters(2000),
    );
  });

  it(seeded('gives back what encodeDelta took'), { timeout }, () => {
    const [memory, other] = [Buffer.from(new ArrayBuffer(32_768)), Buffer.from(new ArrayBuffer(32_768))];
    const write = fc.tuple(
      fc.oneof(fc.integer({ min: 0, max: 4095 }), fc.integer({ min: 8192, max: 20_479 })),
      fc.integer({ min: 1, max: 255 }),
    );
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
        for (const each of [memory, other]) restoreReference(each, layout, reference, each.length);
        for (const [address, byte] of writes) memory[address] = byte;
        applyDelta(other, encodeDelta(memory, layout, reference, 20_480));
        expect(other.equals(memory)).toBe(true);
      }),
      fuzzParameters(300),
    );
  });
});

describe('parseStack', () => {
  const line = fc.oneof(
    anyText,
    fc
      .tuple(anyText, anyText, fc.integer(), fc.integer())
      .map(([name, file, row, column]) => `    at ${name} (${file}:${row}:${column})`),
  );
  it(seeded('finds places in any text that a guest may write'), { timeout }, () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const frames = parseStack(lines.join('\n'));
        expect(frames.length).toBeLessThanOrEqual(20);
        for (const frame of frames) expect(Math.min(frame.line, frame.column)).toBeGreaterThan(0);
      }),
      fuzzParameters(1000),
    );
  });
});

describe('nestsDeeper', () => {
  it(seeded('counts as JSON.parse nests'), { timeout }, () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 0, max: 6 }), (value, depth) => {
        expect(nestsDeeper(JSON.stringify(value), depth)).toBe(depthOf(JSON.parse(JSON.stringify(value))) > depth);
      }),
      fuzzParameters(1000),
    );
  });
});
