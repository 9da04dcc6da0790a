import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/plugins/manifest/read-manifest.ts';

const fn = { $function: true };

function read(main: object) {
  return readManifest({ exported: { default: main, named: {} }, fileName: 'desk.ts' });
}

function tell(main: object): string {
  const result = read(main);
  return result.ok ? 'was read, and should not have been' : `${result.diagnostic.code}: ${result.diagnostic.message}`;
}

const prompt = (more: object, name = 'ask') => ({ prompts: { [name]: { handler: fn, ...more } } });
const resource = (more: object, name = 'all') => ({ resources: { [name]: { uri: 'notes://all', read: fn, ...more } } });

describe('readOfferings', () => {
  it('reads a plugin without a tool, and gives what it brings the flags of the plugin', () => {
    const result = read({ isElevated: true, tags: ['x'], timeoutMs: 1000, ...prompt({ isElevated: false }), ...resource({}) });
    expect(result).toMatchObject({
      ok: true,
      manifest: {
        tools: [],
        prompts: [
          { kind: 'prompt', name: 'ask', call: { name: 'prompt:ask', handler: 'prompt:ask', flags: { isElevated: false } } },
        ],
        resources: [
          { uri: 'notes://all', isTemplate: false, call: { flags: { isElevated: true }, tags: ['x'], timeoutMs: 1000 } },
        ],
        warnings: [],
      },
    });
  });

  it.each<[string, object]>([
    ['cannot be a name in "prompts"', prompt({}, 'a\u001b[2J')],
    ['cannot be a name in "prompts"', prompt({}, 'prompt:x')],
    ['cannot be a name in "resources"', resource({}, 'a b')],
    ['cannot be a name in "resources"', resource({}, 'x'.repeat(65))],
    ['"prompts" must be an object', { prompts: [] }],
    ['at most 64 prompts', { prompts: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`a${at}`, { handler: fn }])) }],
    ['"prompts.ask.handler" must be a function', { prompts: { ask: {} } }],
    ['Unknown key "prompts.ask.handlr"', prompt({ handlr: fn })],
    ['"prompts.ask.arguments.a b" must be named', prompt({ arguments: { 'a b': {} } })],
    ['"prompts.ask.arguments.1" must be named', prompt({ arguments: [{ name: 'a' }, { name: 'a' }] })],
    ['at most 32 arguments', prompt({ arguments: Array.from({ length: 33 }, (_, at) => ({ name: `a${at}` })) })],
    ['"prompts.ask.arguments.a.required" must be true or false', prompt({ arguments: { a: { required: 'yes' } } })],
    ['"prompts.ask.arguments.a.complete" must be a list', prompt({ arguments: { a: { complete: [1] } } })],
    ['"prompts.ask.title" must be text of at most 200', prompt({ title: 'x'.repeat(201) })],
    ['"resources.all.uri" must be an address', resource({ uri: undefined })],
    ['"resources.all.uri" must be an address with another scheme', resource({ uri: 'javascript:alert(1)' })],
    ['"resources.all.uri" must be an address without blanks', resource({ uri: 'notes://a\nb' })],
    ['"resources.all.uriTemplate" must be left out beside "uri"', resource({ uriTemplate: 'notes://{a}' })],
    ['must be a template of level 1', resource({ uri: undefined, uriTemplate: 'notes://{+a}' })],
    ['"resources.all.size" must be a whole number', resource({ size: -1 })],
    ['Unknown key "resources.all.complete.b"', resource({ uri: undefined, uriTemplate: 'notes://{a}', complete: { b: fn } })],
    [
      'must be the address of no other resource',
      { resources: { one: { uri: 'notes://a', read: fn }, two: { uri: 'notes://a', read: fn } } },
    ],
    ['brings tools, and no prompts or resources', { engine: 'extism', ...prompt({}) }],
  ])('says what is wrong: %s', (told, main) => {
    expect(tell(main)).toContain(`manifest-invalid: `);
    expect(tell(main)).toContain(told);
  });
});
