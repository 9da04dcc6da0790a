import { describe, expect, it } from 'vitest';
import type { PluginManifest } from '../../../src/plugins/generations/generation.ts';
import { readManifest } from '../../../src/plugins/manifest/read-manifest.ts';
import { readSchemas } from '../../../src/plugins/schema/read-schemas.ts';
import { emptyReadResult, type SchemaReadResult } from '../../../src/plugins/schema/schema-types.ts';

const fn = { $function: true };
const good = { description: 'Says the weather.', handler: fn };

function read(main: unknown, inferred: SchemaReadResult = emptyReadResult(), fileName = 'weather.ts') {
  return readManifest({ exported: { default: main, named: {} }, fileName, inferred });
}

function manifestOf(...given: Parameters<typeof read>): PluginManifest {
  const result = read(...given);
  if (!result.ok) throw new Error(result.diagnostic.message);
  return result.manifest;
}

function diagnosticOf(...given: Parameters<typeof read>) {
  const result = read(...given);
  if (result.ok) throw new Error('was read, and should not have been');
  return result.diagnostic;
}

describe('readManifest', () => {
  it('fills in what a small plugin leaves out', () => {
    expect(manifestOf({ ...good, usage: 'weather(city)' })).toEqual({
      name: 'weather',
      version: '0.0.0',
      description: 'Says the weather.',
      engine: 'quickjs',
      isolation: 'call',
      limits: {},
      permissions: {},
      permissionsSource: 'inferred',
      tools: [
        {
          name: 'weather',
          handler: 'default',
          description: 'Says the weather.',
          usage: 'weather(city)',
          input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          inputSource: 'usage',
          flags: {
            isResearch: false,
            isSideEffect: false,
            isDeep: false,
            isDangerous: false,
            isElevated: false,
            isParallelSafe: false,
          },
          tags: [],
          mode: 'on',
          retries: 0,
          idempotent: false,
          examples: [],
        },
      ],
      hooks: { onStart: false, onReload: false, healthcheck: false },
      warnings: [],
    });
  });

  it('reads everything that a plugin may say', () => {
    const manifest = manifestOf({
      ...good,
      name: 'w_1',
      version: '1.2.0-beta.1',
      permissions: { net: ['api.example.com'], env: ['KEY'], llm: true, run: ['ffmpeg'] },
      isolation: 'plugin',
      engine: 'quickjs',
      limits: { cpuMs: 500 },
      timeoutMs: 2000,
      retries: 2,
      idempotent: true,
      tags: ['a', 'b', 'a'],
      mode: 'auto',
      examples: [{ args: { city: 'Paris' }, expect: 'sunny' }, { args: {} }],
      output: { type: 'string' },
      parameters: { type: 'object', properties: {} },
      isDangerous: true,
      onLoad: fn,
      onStart: fn,
      onReload: fn,
      healthcheck: fn,
      metadata: { anything: ['goes'] },
    });
    expect(manifest).toMatchObject({
      name: 'w_1',
      version: '1.2.0-beta.1',
      isolation: 'plugin',
      limits: { cpuMs: 500 },
      permissionsSource: 'declared',
      permissions: { net: ['api.example.com'], env: ['KEY'], llm: true, run: ['ffmpeg'], sharedCell: true },
      hooks: { onStart: true, onReload: true, healthcheck: true },
    });
    expect(manifest.tools[0]).toMatchObject({
      timeoutMs: 2000,
      retries: 2,
      tags: ['a', 'b'],
      mode: 'auto',
      output: { type: 'string' },
      inputSource: 'parameters',
      flags: { isDangerous: true },
    });
  });

  it('reads several tools, which take defaults from the plugin', () => {
    const { tools } = manifestOf({
      description: 'Two things.',
      tags: ['x'],
      isParallelSafe: true,
      tools: {
        add: { description: 'Adds.', handler: fn, usage: 'add(a: number)' },
        sub: { description: 'Subtracts.', handler: fn, tags: [], mode: 'off' },
      },
    });
    expect(tools.map(({ name, handler, tags, mode, flags }) => [name, handler, tags, mode, flags.isParallelSafe])).toEqual([
      ['add', 'add', ['x'], 'on', true],
      ['sub', 'sub', [], 'off', true],
    ]);
  });

  it('says how a schema of effect, which is a function, describes arguments', () => {
    const read = readManifest({ exported: { default: { ...good, parameters: fn }, named: {} }, fileName: 'a.ts' });
    expect(read).toMatchObject({ ok: false, diagnostic: { fix: expect.stringContaining('Schema.toStandardSchemaV1(') } });
  });

  it('reads a list of tools that name themselves', () => {
    const { tools } = manifestOf({
      tools: [
        { name: 'add', description: 'Adds.', handler: fn },
        { name: 'sub', description: 'Subtracts.', handler: fn },
      ],
    });
    expect(tools.map(({ name, handler }) => [name, handler])).toEqual([
      ['add', '0'],
      ['sub', '1'],
    ]);
  });

  it('lets a tool of the table say the name that it has', () => {
    expect(manifestOf({ tools: { add: { name: 'add', handler: fn } } }).tools[0]?.name).toBe('add');
  });

  it('prefers declared parameters to types, and types to usage', () => {
    const type = { type: 'object', properties: { fromType: {} } };
    const inferred = {
      ...emptyReadResult(),
      handlers: { default: { input: type, warnings: ['Type "Date" is vague.'], description: 'From the comment.' } },
    };
    const usage = 'weather(city)';
    expect(manifestOf({ handler: fn, usage }, inferred)).toMatchObject({
      tools: [{ input: type, inputSource: 'type', description: 'From the comment.' }],
      warnings: ['Tool "weather": Type "Date" is vague.'],
    });
    expect(manifestOf({ ...good, usage, parameters: { properties: { p: {} } } }, inferred).tools[0]).toMatchObject({
      input: { type: 'object', properties: { p: {} } },
      inputSource: 'parameters',
    });
  });

  it('accepts any object where nothing is known, and says so', () => {
    expect(manifestOf(good)).toMatchObject({ tools: [{ input: { type: 'object' }, inputSource: 'none' }] });
    expect(manifestOf(good).warnings[0]).toContain('accepts any object');
    const handlers: SchemaReadResult['handlers'] = { default: { takesNothing: true, warnings: [] } };
    expect(manifestOf(good, { ...emptyReadResult(), handlers }).warnings).toEqual([]);
    const silent = manifestOf({ ...good, parameters: { $standardSchema: true } });
    expect(silent.tools[0]).toMatchObject({ input: { type: 'object' }, inputSource: 'parameters' });
    expect(silent.warnings[0]).toContain('no JSON Schema');
  });

  it('shows inferred permissions as inferred, and drops them for a permissions block', () => {
    const inferred = { ...emptyReadResult(), permissions: { net: ['a.test'], env: ['KEY'] }, sourceUrl: 'https://a.test/x.ts' };
    expect(manifestOf(good, inferred)).toMatchObject({
      permissions: { net: ['a.test'], env: ['KEY'] },
      permissionsSource: 'inferred',
      sourceUrl: 'https://a.test/x.ts',
    });
    expect(manifestOf({ ...good, permissions: {} }, inferred)).toMatchObject({ permissions: {}, permissionsSource: 'declared' });
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['an unknown key', { descripton: 'x' }, /Unknown key "descripton"\. Did you mean "description"\?/],
    ['a key that is near nothing', { zzz: 1 }, /Unknown key "zzz"\.$/],
    ['a bad version', { version: '1.2' }, /"version" must be a semantic version such as "1.2.0", but is "1.2"/],
    ['a bad name', { name: 'a b' }, /"name" must be a name of 1 to 64/],
    ['a handler that is no function', { handler: 'x' }, /"handler" must be a function, but is "x"/],
    ['a limit over its bound', { limits: { cpuMs: 1e9 } }, /"limits.cpuMs" must be a whole number from 1 to 300000/],
    ['an unknown limit', { limits: { cpums: 1 } }, /Unknown key "limits.cpums"\. Did you mean "cpuMs"\?/],
    ['a time-out over its bound', { timeoutMs: 1e9 }, /"timeoutMs" must be a whole number from 1 to 900000/],
    ['retries of what is not idempotent', { retries: 1 }, /not declared idempotent/],
    ['an unknown isolation', { isolation: 'none' }, /"isolation" must be "call" or "session" or "plugin"/],
    ['examples that are no examples', { examples: [{ arg: {} }] }, /"examples.0" must be an object/],
    ['a hook that is no function', { onLoad: 1 }, /"onLoad" must be a function/],
    ['parameters of another type', { parameters: { type: 'string' } }, /"parameters.type" must be "object"/],
    ['parameters as a list of properties', { parameters: { city: { type: 'string' } } }, /looks like a plain list of properties/],
    [
      'parameters with a remote reference',
      { parameters: { properties: { a: { $ref: 'https://x.test' } } } },
      /must point into the schema itself/,
    ],
    ['parameters with a function', { parameters: { properties: { a: fn } } }, /must be plain JSON, but is a function/],
    ['parameters over 64 KB', { parameters: { description: 'x'.repeat(70_000) } }, /larger than 64 KB/],
    ['a tool without a name', { tools: { 'a b': { handler: fn } } }, /"a b" cannot be the name of a tool/],
    ['a list with a tool that has no name', { tools: [{ handler: fn }] }, /"tools\.0\.name" must be the name of the tool/],
    [
      'a list with the same name twice',
      {
        tools: [
          { name: 'a', handler: fn },
          { name: 'a', handler: fn },
        ],
      },
      /"tools\.1" must be named unlike/,
    ],
    ['a list without one', { tools: [] }, /"tools" must be an object with 1 to 64 tools/],
    [
      'a list of tools of WebAssembly',
      { engine: 'extism', tools: [{ name: 'a', handler: fn }] },
      /"tools" must be an object, but is a list/,
    ],
    ['another name in the table', { tools: { a: { name: 'b', handler: fn } } }, /Unknown key "tools.a.name"/],
    ['tools without one', { tools: {} }, /"tools" must be an object with 1 to 64 tools/],
    [
      'a misspelt key of a tool',
      { tools: { a: { handler: fn, usge: 'x' } } },
      /Unknown key "tools.a.usge"\. Did you mean "usage"\?/,
    ],
  ])('refuses %s', (_, change, message) => {
    const diagnostic = diagnosticOf({ ...good, ...change });
    expect(diagnostic.message).toMatch(message);
    expect(diagnostic.fix).not.toBe('');
  });

  it('refuses permissions that cannot be read, naming the key', () => {
    expect(diagnosticOf({ ...good, permissions: { nett: ['x'] } })).toMatchObject({ code: 'permissions-invalid' });
  });

  it('refuses a schema that is nested too deeply', () => {
    const deep = JSON.parse(`${'{"properties":{"a":'.repeat(40)}{}${'}}'.repeat(40)}`);
    expect(diagnosticOf({ ...good, parameters: deep }).message).toContain('nested deeper than 32 levels');
  });

  it('shows the place of the key', () => {
    const text = 'export default {\n  handler: () => 1,\n  limits: { cpuMs: 0 },\n};';
    const files = [{ path: 'weather.ts', text }];
    const inferred = { ...readSchemas(files, 'weather.ts'), entry: { path: 'weather.ts', text } };
    expect(diagnosticOf({ ...good, limits: { cpuMs: 0 } }, inferred)).toMatchObject({
      file: 'weather.ts',
      line: 3,
      column: 13,
      codeFrame: expect.stringContaining('> 3 |   limits: { cpuMs: 0 },'),
    });
  });
});

describe('readManifest: which export it reads', () => {
  const readNamed = (named: Record<string, unknown>, main?: unknown) =>
    readManifest({ exported: { default: main, named }, fileName: 'weather.ts' });

  it.each([
    ['named exports', { ...good, helper: fn }],
    ['an export named like the file', { other: { x: 1 }, weather: good }],
    ['the first object with a handler', { VERSION: '1', plugin: good }],
  ])('reads %s', (_, named) => {
    expect(readNamed(named)).toMatchObject({ ok: true, manifest: { name: 'weather', description: 'Says the weather.' } });
  });

  it('names a misspelt key among named exports, and leaves other exports out', () => {
    expect(readNamed({ ...good, usge: 'x' })).toMatchObject({
      ok: false,
      diagnostic: { message: expect.stringContaining('"usage"') },
    });
    expect(readNamed({ ...good, TABLE: [1] })).toMatchObject({
      ok: true,
      manifest: { warnings: expect.arrayContaining([expect.stringContaining('"TABLE"')]) },
    });
  });

  it.each<[string, unknown, Record<string, unknown>, RegExp]>([
    ['a bare function', fn, {}, /bare function/],
    ['text', 'x', {}, /must be an object, but is "x"/],
    ['nothing', undefined, {}, /exports nothing/],
    ['other things', undefined, { a: fn, b: 1 }, /exports a, b, and no default export/],
  ])('says what is wrong with %s', (_, main, named, message) => {
    const result = readNamed(named, main);
    expect(result).toMatchObject({ ok: false, diagnostic: { code: 'export-missing', message: expect.stringMatching(message) } });
  });
});
