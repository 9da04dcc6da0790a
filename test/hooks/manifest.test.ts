import { describe, expect, it } from 'vitest';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { readHookManifest } from '../../src/hooks/manifest.ts';

const plain = '---\ndescription: A hook.\nevents: ["tool:before"]\n---\n# Text\n';

function read(text: string, handler: string | string[] = 'handler.ts') {
  const names = [handler].flat();
  return readHookManifest([
    { path: 'HOOK.md', data: Buffer.from(text) },
    ...names.map((path) => ({ path, data: Buffer.from('export default () => {};') })),
  ]);
}

function refusal(text: string, handler: string | string[] = 'handler.ts'): HotcellError {
  try {
    read(text, handler);
  } catch (error) {
    if (error instanceof HotcellError) return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('readHookManifest', () => {
  it('reads what a hook is and wants', () => {
    const text = `---
name: guard
description: Watches over calls.
events: ["tool:before", "daemon:start"]
tools: ["web_*"]
engine: deno
permissions: { net: ["api.example.com"], kv: true }
timeoutMs: 500
metadata: { anything: [1, 2] }
---
`;
    expect(read(text)).toEqual({
      title: 'guard',
      description: 'Watches over calls.',
      events: [
        { event: 'tool:before', type: 'tool', action: 'before' },
        { event: 'daemon:start', type: 'daemon', action: 'start' },
      ],
      tools: ['web_*'],
      engine: 'deno',
      handler: 'handler.ts',
      permissions: { net: ['api.example.com'], kv: true },
      timeoutMs: 500,
    });
  });

  it('reads hooks that were written for OpenClaw', () => {
    const text = `---
name: session-memory
description: "Save session context"
homepage: https://example.com/hooks
metadata:
  { "openclaw": { "emoji": "x", "events": ["command:new", "command:reset", "gateway:startup"], "requires": { "bins": [] } } }
---
# Session memory
`;
    expect(read(text, 'index.js')).toMatchObject({
      handler: 'index.js',
      engine: 'quickjs',
      events: [
        { event: 'command:new', type: 'command', action: 'new' },
        { event: 'command:reset', type: 'command', action: 'reset' },
        { event: 'daemon:start', type: 'gateway', action: 'startup' },
      ],
    });
  });

  it('takes a type alone for all of its actions, and each event once', () => {
    const { events } = read('---\nevents: [tool, "tool:call", message]\n---\n');
    expect(events.map(({ event }) => event)).toEqual(['tool:before', 'tool:after', 'message:received', 'message:sent']);
  });

  it('takes the first handler in the usual order, and a script for the shell engine', () => {
    expect(read(plain, ['index.ts', 'handler.js']).handler).toBe('handler.js');
    expect(read(plain, 'handler.sh')).toMatchObject({ handler: 'handler.sh', engine: 'shell' });
  });

  it.each([
    ['JavaScript', '---js\n{ events: ["tool:before"], description: (globalThis.ran = true) && "x" }\n---\n'],
    ['JavaScript by its long name', '---javascript\n{}\n---\n'],
    ['coffee', '--- coffee\nevents: 1\n---\n'],
    ['JSON', '---json\n{"events": ["tool:before"]}\n---\n'],
    ['the constructor of objects', '---constructor\nevents: ["tool:before"]\n---\n'],
  ])('refuses front matter in %s, and evaluates nothing of it', (_language, text) => {
    expect(refusal(text)).toMatchObject({ code: 'hook-invalid', message: expect.stringContaining('three dashes') });
    expect('ran' in globalThis).toBe(false);
  });

  it.each([
    ['no front matter', '# Hook\n', 'three dashes'],
    ['an empty file', '', 'three dashes'],
    ['blank lines without end', `---\nevents: [tool]${'\n'.repeat(100_000)}---\n`, 'at most 65536 are read'],
    ['folds of lists', `---\nevents: ${'['.repeat(8000)}\n---\n`, 'cannot be read'],
    ['no end', '---\nevents: ["tool:before"]\n', 'has no end'],
    ['a list', '---\n- a\n- b\n---\n', 'a map of keys'],
    ['YAML that is none', '---\nevents: [a\n---\n', 'cannot be read'],
    [
      'aliases that unfold',
      `---\na: &a [x]\n${'bcdef'.replace(/./g, (c) => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}events: *f\n---\n`,
      'cannot be read',
    ],
    ['a tag for code', '---\nevents: !!js/function "function () {}"\n---\n', '"events"'],
    ['a key twice', '---\nevents: ["tool:before"]\nevents: [tool]\n---\n', 'cannot be read'],
    ['no events', '---\nname: x\n---\n', 'names no events'],
    ['an unknown event', '---\nevents: ["tool:befor"]\n---\n', 'Did you mean "tool:before"'],
    ['an event of the prototype', '---\nevents: ["constructor"]\n---\n', 'There is no event'],
    ['an unknown key', '---\nevent: ["tool:before"]\n---\n', 'Did you mean "events"'],
    ['a prototype for a key', '---\n__proto__: { events: ["tool:before"] }\n---\n', 'unknown key'],
    ['an endless name', `---\nname: ${'x'.repeat(100)}\nevents: [tool]\n---\n`, '"name" must be text'],
    ['too much time', '---\nevents: [tool]\ntimeoutMs: 600000\n---\n', '"timeoutMs" must be a whole number'],
    ['an engine that is none', '---\nevents: [tool]\nengine: docker\n---\n', '"engine" must be'],
    ['an image without a script', '---\nevents: [tool]\nimage: box\n---\n', 'runs in no container'],
  ])('refuses a HOOK.md with %s', (_what, text, said) => {
    expect(refusal(text)).toMatchObject({ code: 'hook-invalid', message: expect.stringContaining(said) });
  });

  it.each([
    ['an unknown permission', 'nett: [a.com]', 'net'],
    ['all of the network', 'net: true', 'takes a list'],
    ['tools', 'tools: ["*"]', 'cannot call tools'],
    ['trust in dangerous tools', 'dangerous: ["*"]', 'only the operator'],
    ['a shared cell', 'sharedCell: true', 'fresh cell'],
  ])('refuses to be asked for %s', (_what, permission, said) => {
    const text = `---\nevents: [tool]\npermissions: { ${permission} }\n---\n`;
    expect(refusal(text)).toMatchObject({ code: 'permissions-invalid', message: expect.stringContaining(said) });
  });

  it('refuses what a script cannot be given, and what it does not need', () => {
    const withFiles = '---\nevents: [tool]\npermissions: { read: ["."] }\n---\n';
    expect(refusal(withFiles, 'handler.sh')).toMatchObject({ message: expect.stringContaining('net and env only') });
    const withEngine = '---\nevents: [tool]\nengine: deno\n---\n';
    expect(refusal(withEngine, 'handler.sh')).toMatchObject({ message: expect.stringContaining('runs in a container') });
    expect(refusal(plain, ['handler.sh', 'index.ts'])).toMatchObject({ message: expect.stringContaining('only one') });
    expect(refusal(plain, 'main.ts')).toMatchObject({ message: expect.stringContaining('no handler') });
  });
});
