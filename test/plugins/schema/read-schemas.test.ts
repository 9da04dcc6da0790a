// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the plugins under test are strings that hold templates.
import { describe, expect, it } from 'vitest';
import { readSchemas } from '../../../src/plugins/schema/read-schemas.ts';
import { findSourceUrl } from '../../../src/plugins/schema/source-url.ts';

function read(text: string, more: Record<string, string> = {}, entry = 'plugin.ts') {
  const files = Object.entries(more).map(([path, content]) => ({ path, text: content }));
  return readSchemas([{ path: entry, text }, ...files], entry);
}

/** The schema of one property whose type is given, and the warnings. */
function propertyOf(type: string, around = '', more: Record<string, string> = {}) {
  const { handlers } = read(`${around}\nexport default { handler: async (args: { p: ${type} }) => 1 };`, more);
  const input = handlers.default?.input as { properties: { p: unknown } } | undefined;
  return { schema: input?.properties.p, warnings: handlers.default?.warnings };
}

const oneString = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

describe('readSchemas: where the handler is', () => {
  it.each([
    ['an arrow function', 'export default { handler: async (args: A) => 1 }'],
    ['a method', 'export default { async handler(args: A) {} }'],
    ['a function expression', 'export default { handler: async function (args: A) {} }'],
    ['a local function', 'async function run(args: A) {}\nexport default { handler: run }'],
    ['shorthand of a constant', 'const handler = (args: A) => 1;\nexport default { handler }'],
    ['definePlugin', 'import { definePlugin } from "hotcell";\nexport default definePlugin({ handler(args: A) {} })'],
    ['satisfies', 'export default { handler(args: A) {} } satisfies Plugin'],
    ['as const', 'export default { handler(args: A) {} } as const'],
    ['a constant', 'const plugin = { handler(args: A) {} };\nexport default plugin'],
    ['export { x as default }', 'const plugin = { handler(args: A) {} };\nexport { plugin as default }'],
    ['a spread', 'const base = { handler(args: A) {} };\nexport default { ...base, name: "x" }'],
    ['a named export', 'export const name = "x";\nexport async function handler(args: A) {}'],
    ['a constant named like the file', 'export const other = {};\nexport const plugin = { handler(args: A) {} };'],
    ['module.exports', 'module.exports = { handler: async (args: A) => 1 }'],
    ['exports.default', 'exports.default = { handler: async (args: A) => 1 }'],
    ['exports.handler', 'exports.handler = async (args: A) => 1'],
    ['export =', 'const plugin = { handler(args: A) {} };\nexport = plugin'],
    ['a wrapper', 'export default { handler: retry(async (args: A) => 1) }'],
    ['another file', 'import { run } from "./run.ts";\nexport default { handler: run }'],
  ])('reads %s', (_, text) => {
    const type = 'interface A { city: string }\n';
    const result = read(`${type}${text}`, { 'run.ts': `${type}export function run(args: A) {}` });
    expect(result.handlers.default?.input).toEqual(oneString);
  });

  it('reads every tool of a plugin', () => {
    const { handlers } = read(`
      import { defineTool } from 'hotcell';
      const tools = { b: defineTool({ handler(args: { city: string }) {} }) };
      export default { tools: { a: { handler: async (args: { city: string }) => 1 }, ...tools, 'c-d': { handler: (x: {}) => 1 } } };`);
    expect(handlers.a?.input).toEqual(oneString);
    expect(handlers['c-d']?.input).toEqual({ type: 'object', properties: {}, additionalProperties: false });
  });

  it('reads the tools of a list by their numbers', () => {
    const { handlers } = read(`
      const first = { name: 'a', handler(args: { city: string }) {} };
      export default { tools: [first, { name: 'b', handler: (x: {}) => 1 }, ...others, { handler: (x: {}) => 2 }] };`);
    expect(handlers['0']?.input).toEqual(oneString);
    expect(Object.keys(handlers)).toEqual(['0', '1']);
  });

  it('says nothing about a handler without types', () => {
    expect(read('export default { handler: async (args: any) => args }').handlers.default).toEqual({ warnings: [] });
    expect(read('export default { handler: async (args) => args }').handlers.default).toEqual({ warnings: [] });
    const none = { takesNothing: true, warnings: [] };
    expect(read('export default { handler: async () => 1 }').handlers.default).toEqual(none);
    const looks = 'export default { handler: function () { return arguments[0]; } }';
    expect(read(looks).handlers.default).toEqual({ warnings: [] });
  });

  it('takes defaults from the pattern of the parameter', () => {
    const { handlers } = read('export default { handler: ({ city, days = 3 }: { city: string; days?: number }) => 1 }');
    expect(handlers.default?.input).toMatchObject({ required: ['city'], properties: { days: { type: 'number', default: 3 } } });
  });

  it('warns about a first parameter that is no object', () => {
    const { handlers } = read('export default { handler: (city: string) => 1 }');
    expect(handlers.default?.input).toBeUndefined();
    expect(handlers.default?.warnings[0]).toContain('not an object');
  });

  it('reads doc comments of JavaScript', () => {
    const text = `/** Adds a city.
       * @param {object} args
       * @param {string} args.city - Which city
       * @param {('c'|'f')[]} [args.units] - Units */
      async function handler(args) {}
      module.exports = { handler };`;
    const { handlers } = read(text, {}, 'plugin.js');
    expect(handlers.default).toMatchObject({
      description: 'Adds a city.',
      input: {
        properties: {
          city: { type: 'string', description: 'Which city' },
          units: { type: 'array', items: { type: 'string', enum: ['c', 'f'] } },
        },
        required: ['city'],
      },
    });
  });
});

describe('readSchemas: types', () => {
  const around = `
    enum Unit { C = 'c', F = 'f' }
    enum Level { Low, Mid = 5, High }
    const MODES = ['x', 'y'] as const;
    const MAP = { one: 1, two: 2 } as const;
    interface Base { id: string; n?: number }
    interface More extends Base { more: boolean }
    type Box<T> = { value: T };
    type Both = Base & { extra: 'e' };`;
  const base = {
    type: 'object',
    properties: { id: { type: 'string' }, n: { type: 'number' } },
    required: ['id'],
    additionalProperties: false,
  };

  it.each<[string, unknown]>([
    ['string', { type: 'string' }],
    ['boolean', { type: 'boolean' }],
    ['string[]', { type: 'array', items: { type: 'string' } }],
    ['ReadonlyArray<number>', { type: 'array', items: { type: 'number' } }],
    ['readonly (string | number)[]', { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }],
    [`'a' | 'b'`, { type: 'string', enum: ['a', 'b'] }],
    ['1 | -2 | null', { enum: [1, -2, null] }],
    ['true', { type: 'boolean', const: true }],
    ['string | null', { anyOf: [{ type: 'null' }, { type: 'string' }] }],
    [
      '[string, number?]',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 1, maxItems: 2 },
    ],
    [
      '[a: string, ...rest: number[]]',
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' }, minItems: 1 },
    ],
    ['Record<string, number>', { type: 'object', properties: {}, additionalProperties: { type: 'number' } }],
    ['{ [key: string]: boolean }', { type: 'object', properties: {}, additionalProperties: { type: 'boolean' } }],
    ['Unit', { type: 'string', enum: ['c', 'f'] }],
    ['Level', { type: 'number', enum: [0, 5, 6] }],
    ['(typeof MODES)[number]', { type: 'string', enum: ['x', 'y'] }],
    ['(typeof MODES)[1]', { type: 'string', const: 'y' }],
    ['keyof typeof MAP', { type: 'string', enum: ['one', 'two'] }],
    ['(typeof MAP)[keyof typeof MAP]', { type: 'number', enum: [1, 2] }],
    ['keyof Base', { type: 'string', enum: ['id', 'n'] }],
    ['Base', base],
    [`Base['id']`, { type: 'string' }],
    ['Readonly<Base>', base],
    ['Partial<Base>', { type: 'object', properties: base.properties, additionalProperties: false }],
    ['Required<Base>', { ...base, required: ['id', 'n'] }],
    [`Pick<Base, 'n'>`, { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false }],
    [
      `Omit<Base, 'n'>`,
      { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
    ],
    [`NonNullable<'a' | null>`, { type: 'string', const: 'a' }],
    [`Exclude<'a' | 'b' | 'c', 'b'>`, { type: 'string', enum: ['a', 'c'] }],
    [
      `Record<'a' | 'b', 1>`,
      {
        type: 'object',
        properties: { a: { type: 'number', const: 1 }, b: { type: 'number', const: 1 } },
        required: ['a', 'b'],
        additionalProperties: false,
      },
    ],
    [`{ [K in 'a']?: string }`, { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }],
    [
      'Box<string>',
      { type: 'object', properties: { value: { type: 'string' } }, required: ['value'], additionalProperties: false },
    ],
    ['`id-${string}`', { type: 'string' }],
    ['unknown', {}],
  ])('says %s', (type, schema) => {
    expect(propertyOf(type, around)).toEqual({ schema, warnings: [] });
  });

  it('merges what an interface extends and what an intersection joins', () => {
    expect(propertyOf('More', around).schema).toMatchObject({ required: ['id', 'more'] });
    expect(propertyOf('Both', around).schema).toMatchObject({ required: ['id', 'extra'] });
  });

  it('follows relative imports, re-exports and namespaces', () => {
    const files = {
      'lib/types.ts': 'export interface T { a: 1 }',
      'lib/index.ts': `export * from './types.ts'; export type { T as U } from './types';`,
    };
    const schema = {
      type: 'object',
      properties: { a: { type: 'number', const: 1 } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(propertyOf('T', `import type { T } from './lib/types.js';`, files).schema).toEqual(schema);
    expect(propertyOf('U', `import { type U } from './lib';`, files).schema).toEqual(schema);
    expect(propertyOf('lib.T', `import * as lib from './lib/index.ts';`, files).schema).toEqual(schema);
    expect(propertyOf(`import('./lib').T`, '', files).schema).toEqual(schema);
  });

  it('turns doc comments into descriptions and bounds', () => {
    const { handlers } = read(`export default { handler: (args: {
      /** City name */ city: string;
      /**
       * How many
       * days.
       * @minimum 1
       * @default 3
       */
      days?: number }) => 1 }`);
    expect(handlers.default?.input?.properties).toEqual({
      city: { type: 'string', description: 'City name' },
      days: { type: 'number', description: 'How many days.', minimum: 1, default: 3 },
    });
  });

  it.each([
    ['Date'],
    ['Map<string, number>'],
    ['() => void'],
    ['z.infer<typeof schema>'],
    ['T extends string ? 1 : 2'],
    ['symbol'],
    ['Missing'],
  ])('accepts anything for %s, and names it', (type) => {
    const { schema, warnings } = propertyOf(type);
    expect(schema).toEqual({});
    expect(warnings?.[0]).toContain(`"${type}"`);
  });

  it.each(['Partial<Missing>', 'Missing & { a: 1 }', '{ [K in keyof Missing]: 1 }'])(
    'names the part of %s that it misses',
    (type) => {
      expect(propertyOf(type)).toEqual({ schema: {}, warnings: [expect.stringContaining('"Missing"')] });
    },
  );

  it('ends at a type that refers to itself', () => {
    const { schema, warnings } = propertyOf(
      'Tree',
      'interface Tree { children: Tree[]; up?: Up } type Up = { tree: Up | Tree };',
    );
    expect(schema).toMatchObject({ properties: { children: { type: 'array', items: {} } } });
    expect(warnings?.join()).toContain('refers to itself');
  });

  it('ends at types that are too deep or too many', () => {
    expect(propertyOf(`${'{ a: '.repeat(60)}string${'}'.repeat(60)}`).warnings?.join()).toContain('too deeply');
    const doubling = Array.from({ length: 40 }, (_, i) => `type T${i + 1} = { a: T${i}; b: T${i} };`).join('');
    expect(propertyOf('T20', `type T0 = 1; ${doubling}`).warnings?.join()).toMatch(/larger than/);
  });

  it('lets a property be called __proto__ without harm', () => {
    const { handlers } = read('export default { handler: (args: { __proto__: { polluted: 1 }; constructor: string }) => 1 }');
    expect(Object.keys(handlers.default?.input?.properties ?? {})).toEqual(['__proto__', 'constructor']);
  });
});

describe('readSchemas: permissions', () => {
  it('asks for the hosts of literal URLs and the names of config and env values', () => {
    const { permissions } = read(`
      const BASE = 'https://Api.Example.org:8443/v1';
      export default { handler: async (args: any, context: any) => {
        const key = context.config.get('openWeatherApiKey'), { env } = context, other = env.get("B_KEY") ?? process.env.C_KEY ?? process.env['D_KEY'];
        await fetch(\`https://api.openweathermap.org/data?q=\${args.city}&appid=\${key}\`);
        await fetch(\`https://\${args.region}.cdn.example.net/x\`);
        return fetch(BASE + args.path);
      } };`);
    expect(permissions).toEqual({
      net: ['*.cdn.example.net', 'api.example.org:8443', 'api.openweathermap.org'],
      env: ['B_KEY', 'C_KEY', 'D_KEY', 'openWeatherApiKey'],
    });
  });

  it('asks for nothing where URLs are only text', () => {
    const text = `export default { description: 'See https://a.test/ for more', homepage: 'https://b.test', handler: () => 'https://c.test/x' };`;
    expect(read(text).permissions).toEqual({});
    expect(read(text.replace('() =>', '() => fetch')).permissions).toEqual({});
  });

  it('does not ask for a host that is put together while it runs', () => {
    expect(read('export default { handler: (a: any) => fetch(`https://${a.host}/x`) }').permissions).toEqual({});
    expect(read('export default { handler: (a: any) => fetch(`https://api${a.n}.test/x`) }').permissions).toEqual({});
  });

  it('looks into helpers too', () => {
    const files = { 'h.ts': `export const get = () => fetch('https://h.test/');` };
    expect(read(`import { get } from './h'; export default { handler: get };`, files).permissions).toEqual({ net: ['h.test'] });
  });
});

describe('readSchemas: places and source', () => {
  it('knows where the keys of the plugin stand', () => {
    const { positions } = read('export default {\n  name: 1,\n  tools: {\n    add: { timeoutMs: 5 },\n  },\n};');
    expect(positions).toMatchObject({ name: { line: 2, column: 3 }, 'tools.add.timeoutMs': { line: 4, column: 12 } });
  });

  it('reads a leading @source comment only', () => {
    expect(findSourceUrl('#!/x\n// made by hand\n// @source: https://a.test/x.ts\nexport default {}')).toBe(
      'https://a.test/x.ts',
    );
    expect(findSourceUrl('export default {}\n// @source: https://a.test/x.ts')).toBeUndefined();
    expect(findSourceUrl('// @source: javascript:alert(1)')).toBeUndefined();
  });
});

describe('readSchemas: permissions of the context', () => {
  it.each([
    ['kv', 'context.kv.get("a")', { kv: true }],
    ['reads', 'context.files.read("notes/a.md"); context.files.list(args.x)', { read: ['.', 'notes/a.md'] }],
    ['writes below a folder', 'context.files.write(`out/${args.x}.md`, "t")', { write: ['out'] }],
    ['what leads out of the workspace', 'context.files.read("../secret")', { read: ['.'] }],
    [
      'tools by name',
      'context.tools.call("weather", {}); context.tools?.call(args.x ? "a" : "b")',
      { tools: ['a', 'b', 'weather'] },
    ],
    ['tools by a name that is made', 'context.tools.call(args.x)', { tools: ['*'] }],
    ['llm', 'context.llm.generate("hi")', { llm: true }],
    ['run', 'context.run("ffmpeg", ["-i"])', { run: ['ffmpeg'] }],
    ['a name that stands above', 'context.run(command, [])', { run: ['jq'] }],
    ['process.env taken apart', 'const { A_KEY, B_KEY: b } = process.env', { env: ['A_KEY', 'B_KEY'] }],
    [
      'everything at once',
      'context.kv.set("a", 1); context.llm.generate({}); context.env.get("K")',
      { env: ['K'], kv: true, llm: true },
    ],
    ['nothing of what is called alike', 'args.kv.get("a"); run("x"); files.read("a")', {}],
  ])('asks for %s', (_, body, permissions) => {
    const text = `const command = 'jq';\nexport default { handler: async (args: any, context: any) => { ${body} } };`;
    expect(read(text).permissions).toEqual(permissions);
  });

  it('follows the context into parts, other names and helpers', () => {
    const parts =
      'export default { handler: async (args: any, { kv, files: { write }, tools }: any) => { await kv.get("a"); await write("a.md", ""); await tools.call("x"); } };';
    expect(read(parts).permissions).toEqual({ kv: true, tools: ['x'], write: ['a.md'] });
    const other =
      'export default { handler: async (args: any, c: any) => { const { llm } = c; const store = c.kv; await llm.generate("a"); await store.list(); } };';
    expect(read(other).permissions).toEqual({ kv: true, llm: true });
    const helper = { 'h.ts': 'export const save = (context: any) => context.kv.set("a", 1);' };
    expect(
      read(`import { save } from './h'; export default { handler: (args: any, context: any) => save(context) };`, helper)
        .permissions,
    ).toEqual({ kv: true });
  });
});
