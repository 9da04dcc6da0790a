import { stripTypeScriptTypes } from 'node:module';
import { parseSync } from 'oxc-parser';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createPluginMaker, type MakeOrder } from '../../../src/repair/api/make-plugin.ts';
import { makeText } from '../../../src/repair/api/make-text.ts';
import { readOrigin } from '../../../src/repair/api/write-plugin.ts';
import { createTypeChecker, usualCheckerBounds } from '../../../src/typescript/checker.ts';

/** Without the thread, of which a test needs one only where a description is made to break it. */
function make(order: MakeOrder) {
  const answer = makeText(order);
  if (!answer.ok) throw new Error(answer.message);
  return answer.plugin;
}
const source = 'https://api.example.com/openapi.yaml';
const answers = { responses: { 200: { description: 'Fine.' } } };
const petId = { name: 'petId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' }, example: 7 };

const pets = (more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1.2.0' },
  servers: [{ url: '/v2/' }],
  security: [{ api_key: [] }],
  paths: {
    '/pets': {
      parameters: [{ $ref: '#/components/parameters/Limit' }],
      get: { operationId: 'listPets', summary: 'Lists pets.', ...answers },
      post: {
        operationId: 'addPet',
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
        ...answers,
      },
    },
    '/pets/{petId}': {
      get: { parameters: [petId], security: [{ basic: [] }], ...answers },
      put: { operationId: 'changePet', parameters: [petId], security: [{ login: [] }], ...answers },
      delete: { operationId: 'removePet', parameters: [petId], security: [], ...answers },
    },
  },
  components: {
    securitySchemes: {
      api_key: { type: 'apiKey', in: 'query', name: 'key' },
      basic: { type: 'http', scheme: 'basic' },
      login: { type: 'oauth2', flows: {} },
      tls: { type: 'mutualTLS' },
    },
    parameters: { Limit: { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 0, exclusiveMinimum: true } } },
    schemas: {
      Pet: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'integer', readOnly: true },
          name: { type: 'string', nullable: true },
          parent: { $ref: '#/components/schemas/Pet' },
        },
      },
    },
  },
  ...more,
});

/** What the description has in one operation. */
const one = (operation: object, more: object = {}) =>
  pets({ paths: { '/one': { get: { operationId: 'one', security: [], ...answers, ...operation } } }, ...more });
const ask = (document: object, more: object = {}) => make({ text: JSON.stringify(document), name: 'pets', source, ...more });

/** The tools as the written module has them; handlers are left out. */
function readTools(text: string) {
  const { errors } = parseSync('pets.ts', text);
  expect(errors).toEqual([]);
  const from = text.indexOf('export default definePlugin(') + 'export default definePlugin('.length;
  const plugin = text.slice(from, text.indexOf('\n});\n')).concat('\n}');
  return new Function('defineTool', 'send', `return ${plugin}`)(
    (tool: object) => tool,
    (_context: unknown, sent: unknown) => sent,
  );
}

describe('makeText', () => {
  const checker = createTypeChecker({ ...usualCheckerBounds, maxCheckMs: 60_000 }, 'inspect');
  afterAll(() => checker.close());

  it('writes what the types of the plugin API have nothing to say against', async () => {
    const files = [{ name: '/p/pets.ts', text: ask(pets()).text }];
    const by = { callerId: 'a', signal: new AbortController().signal };
    expect((await checker.inspect({ files, packageDirs: [] }, by)).faults).toEqual([]);
  });

  it('makes a tool of each operation, from JSON and from YAML', () => {
    const { text, notes } = ask(pets());
    expect(make({ text: stringify(pets()), name: 'pets', source }).text).toBe(text);
    const plugin = readTools(text);
    expect(plugin).toMatchObject({
      version: '1.2.0',
      permissions: { net: ['api.example.com'], env: ['PETS_API_KEY', 'PETS_BASIC', 'PETS_LOGIN'] },
    });
    expect(text).toContain('const server = "https://api.example.com/v2";');
    const {
      pets_list_pets: list,
      pets_add_pet: add,
      pets_get_pets_pet_id: get,
      pets_change_pet: change,
      pets_remove_pet: remove,
    } = plugin.tools;
    expect(list).toMatchObject({ description: 'Lists pets.', idempotent: true, isParallelSafe: true });
    expect(list.parameters.properties).toEqual({ limit: { type: 'integer', exclusiveMinimum: 0 } });
    expect(add).toMatchObject({ isSideEffect: true, parameters: { required: ['body'] } });
    // What only answers have is not sent, null is a type, and a schema that holds itself is open there.
    expect(add.parameters.properties.body).toEqual({
      type: 'object',
      required: ['name'],
      properties: { name: { type: ['string', 'null'] }, parent: {} },
    });
    expect(get.examples).toEqual([{ args: { petId: 7 } }]);
    expect(change).toMatchObject({ isSideEffect: true, idempotent: true });
    expect(remove).toMatchObject({ isSideEffect: true, isDangerous: true });
    expect(get.handler({}, {}).secrets).toEqual([['PETS_BASIC', 'header', 'authorization', 'basic']]);
    expect(remove.handler({}, {}).secrets).toBeUndefined();
    expect(notes.join()).toContain('hotcell secret set PETS_API_KEY --host api.example.com --query key');
    expect(notes.join()).toContain('USER:PASSWORD as the secret PETS_BASIC');
  });

  it('takes the operations that were chosen, and says how it was made', () => {
    const operations = ['listPets', 'DELETE /pets/{petId}'];
    const { text } = ask(pets(), { operations, server: 'http://localhost:3000/x' });
    expect(Object.keys(readTools(text).tools)).toEqual(['pets_list_pets', 'pets_remove_pet']);
    expect(readOrigin(text)).toEqual({ source, operations, server: 'http://localhost:3000/x', isUntouched: true });
    expect(readOrigin(`${text}// by hand\n`)?.isUntouched).toBe(false);
    expect(readOrigin('export default {};')).toBeUndefined();
    expect(text).toContain('proposed by: hotcell plugin refresh pets\n');
    expect(ask(pets(), { server: 'http://localhost:3000/x', source: undefined }).text).toContain(
      'proposed by: hotcell plugin refresh pets --from FILE\n',
    );
  });

  const words = [
    '*/ }); process.exit(); /*',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what a description may say
    '`${process.env.HOME}`',
    `' + evil + "`,
    'a\u2028b\u2029c\r\nd',
    '\u202Eright to left\u200B',
    '\\',
    '</script>',
  ];
  it.each(words)('keeps the words %j a text, whatever part of the description they are', (word) => {
    const parameter = { name: word, in: 'query', description: word, schema: { type: 'string', enum: [word], default: word } };
    const schema = { type: 'object', properties: { [word]: { description: word } }, required: [word] };
    const requestBody = { content: { 'application/json': { schema } } };
    const document = one({ operationId: word, summary: word, description: word, parameters: [parameter], requestBody });
    const { text } = ask({ ...document, info: { title: word, version: word } }, { operations: [word] });
    const plugin = readTools(text);
    expect(plugin.description).toBe(word);
    const [tool] = Object.values<{ description: string; parameters: { properties: { body: { required: string[] } } } }>(
      plugin.tools,
    );
    expect(tool?.description).toBe(`${word.trim()}\n${word.trim()}`);
    expect(tool?.parameters.properties.body.required).toEqual([word]);
    expect(readOrigin(text)?.operations).toEqual([word]);
    expect(text).not.toMatch(/[\u2028\u2029\u202e\u200b\r]/);
  });

  it('has no key __proto__ in a literal', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"default":{"__proto__":{"a":1}}}',
    );
    const { text } = ask(one({ parameters: [{ name: '__proto__', in: 'query', schema }] }));
    expect(text).not.toContain('"__proto__":');
    expect(readTools(text).tools.pets_one.parameters.properties.proto__.properties).toEqual({ constructor: { type: 'string' } });
  });

  it('leaves out a default of another type, which no call could pass', () => {
    const properties = {
      ...{
        on: { type: 'boolean', default: 'on' },
        many: { type: 'integer', default: 1.5 },
        list: { type: 'array', default: {} },
      },
      ...{ text: { type: 'string', default: 'on' }, none: { type: 'string', nullable: true, default: null } },
    };
    const requestBody = { content: { 'application/json': { schema: { type: 'object', properties } } } };
    const { body } = readTools(ask(one({ requestBody })).text).tools.pets_one.parameters.properties;
    expect(Object.keys(properties).filter((key) => 'default' in body.properties[key])).toEqual(['text', 'none']);
  });

  it('sends a list in a form as its name once for each value, and names the whole command for a secret', async () => {
    const schema = { type: 'object' };
    const requestBody = { content: { 'application/x-www-form-urlencoded': { schema } } };
    const { text, notes } = ask({
      ...one({ requestBody, security: [{ api_key: [] }] }),
      servers: [{ url: 'https://api.example.com' }],
    });
    const sources = stripTypeScriptTypes(text.replace(/^import.*$/m, '').replace('export default', 'const made ='));
    const identity = (value: unknown) => value;
    const plugin = new Function('definePlugin', 'defineTool', `${sources}\nreturn made;`)(identity, identity);
    const { handler } = plugin.tools.pets_one;
    const sent: unknown[] = [];
    const fetch = async (url: string, { body }: { body: string }) => {
      sent.push(url, body);
      return new Response(null, { status: 204 });
    };
    const args = { body: { scopes: ['a b', 'c'], user: 'x', deep: { d: 1 } } };
    await handler(args, { fetch, env: new Map([['PETS_API_KEY', 'k']]) });
    expect(sent).toEqual(['https://api.example.com/one?key=k', 'scopes=a+b&scopes=c&user=x&deep=%7B%22d%22%3A1%7D']);
    const command = 'hotcell secret set PETS_API_KEY --host api.example.com --query key';
    expect(notes.join()).toContain(`${command}.`);
    await expect(handler({}, { fetch, env: new Map() })).rejects.toThrow(command);
  });

  const refused: readonly (readonly [string, object | string, RegExp, object?])[] = [
    ['Swagger 2', { swagger: '2.0', paths: {} }, /Swagger 2.0/],
    ['no version', { paths: {} }, /no OpenAPI/],
    ['a version to come', { openapi: '4.0.0', paths: {} }, /OpenAPI 4/],
    ['broken JSON', '{"openapi": "3.0.0"', /cannot be read/],
    ['broken YAML', 'openapi: [3.0', /cannot be read/],
    ['a web page', '<!doctype html><p>Hello', /It is no object|cannot be read/],
    ['another document', one({ parameters: [{ $ref: 'https://evil.example/x.json#/a' }] }), /another document/],
    ['a file', one({ parameters: [{ $ref: '../../../etc/passwd' }] }), /another document/],
    ['nothing', one({ parameters: [{ $ref: '#/components/none' }] }), /which is not there/],
    ['what objects inherit', one({ parameters: [{ $ref: '#/constructor/prototype' }] }), /which is not there/],
    [
      'itself',
      one(
        { parameters: [{ $ref: '#/components/a' }] },
        { components: { a: { $ref: '#/components/b' }, b: { $ref: '#/components/a' } } },
      ),
      /refers to itself/,
    ],
    ['a key that cannot be kept', one({ security: [{ tls: [] }] }), /a key of a kind/],
    ['a body of bytes', one({ requestBody: { required: true, content: { 'image/png': {} } } }), /image\/png/],
    ['an upload that need not have a body', one({ requestBody: { content: { 'multipart/form-data': {} } } }), /multipart/],
    [
      'a server that is no address',
      one({}),
      /"nonsense" that was named is no http address/,
      { server: 'nonsense', source: undefined },
    ],
    ['a path with a query', pets({ paths: { '/a?b=c': { get: answers } } }), /no plain path/],
    ['a path without its parameter', pets({ paths: { '/{a}': { get: { ...answers, security: [] } } } }), /no parameter/],
    ['no server', one({}), /does not say where the API is/, { source: undefined }],
    ['a server of another kind', one({}, { servers: [{ url: 'file:///etc' }] }), /does not say where/],
    ['a server with a password', one({}, { servers: [{ url: 'https://a:b@c.example' }] }), /does not say where/],
    ['an operation that is not there', pets(), /Did you mean "listPets"/, { operations: ['listPet'] }],
    [
      'too many operations',
      pets({ paths: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`/${at}`, { get: answers }])) }),
      /65 operations/,
    ],
  ];
  it.each(refused)('refuses a description with %s', (_what, document, message, more = {}) => {
    const text = typeof document === 'string' ? document : JSON.stringify(document);
    expect(() => make(Object.assign({ text, name: 'pets', source }, more))).toThrow(message);
  });

  it('refuses what unfolds without end, and what is too large', () => {
    const lines = [
      'a0: &a0 {type: string}',
      ...Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`),
    ];
    const laughs = `openapi: 3.0.0\npaths: {/a: {get: {parameters: *a12}}}\n`.replace(
      'paths',
      `x: {}\n${lines.join('\n')}\npaths`,
    );
    const level = (at: number) => ({
      type: 'object',
      properties: Object.fromEntries(['a', 'b', 'c'].map((key) => [key, { $ref: `#/components/schemas/S${at + 1}` }])),
    });
    const schemas = Object.fromEntries(Array.from({ length: 14 }, (_, at) => [`S${at}`, level(at)]));
    const wide = one(
      { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } } },
      { components: { schemas: { ...schemas, S14: {} } } },
    );
    expect(() => ask(wide)).toThrow('more than 3000 parts');
    for (const text of [laughs, ' '.repeat(9 * 1024 * 1024)]) expect(() => make({ text, name: 'pets', source })).toThrow(/./);
  });

  it('leaves out an operation that cannot be a tool, and says so', () => {
    const document = pets({
      paths: { ...pets().paths, '/b': { get: { operationId: 'bytes', security: [{ tls: [] }], ...answers } } },
    });
    const { text, notes } = ask(document);
    expect(Object.keys(readTools(text).tools)).toHaveLength(5);
    expect(notes.join()).toContain('Left out: bytes');
    expect(() => ask(document, { operations: ['bytes'] })).toThrow('bytes:');
  });

  it('ends a thread that a description keeps busy, and one that it overflows', async () => {
    const nested = `openapi: 3.0.0\npaths: ${'['.repeat(30_000)}`;
    await expect(createPluginMaker({ maxMs: 60_000 })({ text: nested, name: 'pets', source })).rejects.toMatchObject({
      code: 'api-description-invalid',
    });
    const slow = `openapi: 3.0.0\npaths: \n$'a: &a [1, {b: c}]\n'.repeat(200_000)`;
    await expect(createPluginMaker({ maxMs: 1 })({ text: slow, name: 'pets', source })).rejects.toThrow('within 1 ms');
  });
});
