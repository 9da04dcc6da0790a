import { afterAll, describe, expect, it } from 'vitest';
import { createExtismEngine } from '../../../../src/engines/extism/extism-engine.ts';
import { describeServlet, readServletAnswer } from '../../../../src/engines/extism/module/servlet.ts';
import { embedSidecar } from '../../../../src/engines/extism/module/sidecar.ts';
import { assemble, createTestBorder, loadRequest, runRequest } from '../wat-program.ts';

const engine = createExtismEngine({ keepWarm: 1 });
const never = new AbortController().signal;
const tools = JSON.stringify({ tools: [{ name: 'greet', description: 'Greets.', inputSchema: { type: 'object' } }] });

afterAll(() => engine.close());

/** A module whose export writes a text from its memory as the output. */
async function servlet(described: string, answered: string, before = ''): Promise<Uint8Array> {
  const write = (at: number, text: string) => `
    (local $block i64) (local $i i32) ${before}
    (local.set $block (call $alloc (i64.const ${Buffer.byteLength(text)})))
    (loop $next
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $i))) (i32.load8_u (i32.add (i32.const ${at}) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const ${Buffer.byteLength(text)}))))
    (call $output_set (local.get $block) (i64.const ${Buffer.byteLength(text)})) (i32.const 0)`;
  const data = (text: string) => [...Buffer.from(text)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
  return assemble(`(module
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (memory (export "memory") 1) (data (i32.const 0) "${data(described)}") (data (i32.const 8192) "${data(answered)}")
    (func (export "describe") (result i32) ${write(0, described)})
    (func (export "call") (result i32) ${write(8192, answered)}))`);
}

describe('a module that describes itself', () => {
  it('needs no sidecar: its tools are those that describe answers', async () => {
    const code = embedSidecar('greeter.wasm', await servlet(tools, '{}'), undefined);
    expect(await engine.load(loadRequest(code))).toMatchObject({
      ok: true,
      exported: {
        default: {
          engine: 'extism',
          description: 'Greets.',
          tools: { greet: { description: 'Greets.', parameters: { type: 'object' }, handler: { $function: true } } },
        },
      },
    });
  });

  it('takes name and permissions from a sidecar', async () => {
    const text = JSON.stringify({ name: 'named', permissions: { net: ['a.example'] } });
    const code = embedSidecar('greeter.wasm', await servlet(tools, '{}'), { file: 'greeter.json', text });
    expect(await engine.load(loadRequest(code))).toMatchObject({
      exported: { default: { name: 'named', permissions: { net: ['a.example'] }, tools: { greet: {} } } },
    });
  });

  it('is called by the name of the tool', async () => {
    const answer = JSON.stringify({ content: [{ type: 'text', text: '{"hello":"world"}' }] });
    const request = runRequest(await servlet(tools, answer), { handler: 'greet' });
    expect(await engine.run(request, createTestBorder(), never)).toMatchObject({ status: 'success', output: { hello: 'world' } });
  });

  it('fails as it says', async () => {
    const answer = JSON.stringify({ isError: true, content: [{ type: 'text', text: 'no such city' }] });
    const request = runRequest(await servlet(tools, answer), { handler: 'greet' });
    expect(await engine.run(request, createTestBorder(), never)).toMatchObject({
      status: 'error',
      error: { code: 'handler-threw', message: 'no such city' },
    });
  });

  it.each([
    ['text', 'not JSON'],
    ['no tools', '{"tools":[]}'],
    ['a tool without a name', '{"tools":[{"description":"x"}]}'],
    ['one name twice', '{"tools":[{"name":"a"},{"name":"a"}]}'],
    ['a list', '[1]'],
  ])('is refused when describe answers %s', async (_what, described) => {
    const result = await engine.load(loadRequest(await servlet(described, '{}')));
    expect(result).toMatchObject({ ok: false, error: { code: 'manifest-invalid' } });
  });

  it('is refused when what it says nests deeper than readers of JSON bear', async () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const deepSchema = tools.replace('"inputSchema":{', `"inputSchema":{"default":${nested(300)},`);
    const described = await engine.load(loadRequest(await servlet(deepSchema, '{}')));
    expect(described).toMatchObject({
      ok: false,
      error: { code: 'manifest-invalid', message: expect.stringContaining('levels') },
    });
    const answer = JSON.stringify({ content: [{ type: 'text', text: nested(600) }] });
    const code = await servlet(tools, answer);
    const outcome = await engine.run(runRequest(code, { handler: 'greet' }), createTestBorder(), never);
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'output-invalid' } });
  });

  it('is ended when describe does not stop', async () => {
    const code = await servlet(tools, '{}', '(loop $for_ever (br $for_ever))');
    const result = await engine.load(loadRequest(code, { cpuMs: 100 }));
    expect(result).toMatchObject({ ok: false, error: { code: 'time-exceeded' } });
  });
});

describe('describeServlet', () => {
  it('takes a single tool as it is', () => {
    expect(describeServlet({}, '{"name":"one","inputSchema":{"type":"object"}}')).toMatchObject({
      description: 'one',
      tools: { one: { parameters: { type: 'object' } } },
    });
  });
});

describe('readServletAnswer', () => {
  it('keeps several parts as they are', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ];
    expect(readServletAnswer(JSON.stringify({ content }))).toEqual({ output: JSON.stringify({ content }) });
  });

  it('names what is missing', () => {
    expect(readServletAnswer('"hello"')).toMatchObject({ error: { code: 'output-invalid' } });
  });
});
