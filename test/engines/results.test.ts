import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogLine } from '../../src/border/border.ts';
import type { RunOutcome } from '../../src/engines/engine.ts';
import { createDenoRig, type DenoRig } from './process/deno/deno-rig.ts';
import { type CellEngine, startCellEngine } from './quickjs/cell-engine.ts';

/** What a handler body came to, and the warnings beside it. */
interface Came {
  readonly outcome: RunOutcome;
  readonly warnings: readonly string[];
  readonly lines: readonly LogLine[];
}

let cells: CellEngine;
let deno: DenoRig;
beforeAll(async () => {
  cells = await startCellEngine();
  deno = createDenoRig();
});
afterAll(async () => {
  await cells.close();
  await deno.close();
});

const engines: Record<string, (body: string, limits?: object) => Promise<Came>> = {
  async quickjs(body, limits = {}) {
    const before = cells.logs.length;
    const outcome = await cells.call(await cells.load(plugin(body)), { limits });
    const lines = cells.logs.slice(before);
    return { outcome, lines, warnings: warningsOf(lines) };
  },
  async deno(body, limits = {}) {
    const args = { nth: bodies.indexOf(body) };
    const tried = await deno.run(pluginOf(bodies), { args, isolation: 'session', cellKey: 'results', limits });
    return { outcome: tried, lines: tried.logs, warnings: warningsOf(tried.logs) };
  },
};

/** The body is one expression, or the inside of a function that returns. */
const insideOf = (body: string): string => (/\breturn\b/.test(body) ? body : `return ${body};`);

/** A handler that does one thing. */
const plugin = (body: string): string => `{ handler: async () => { ${insideOf(body)} } }`;

/** A handler that does what it is told of all bodies: one process of Deno is enough for them. */
function pluginOf(bodies: readonly string[]): string {
  const cases = bodies.map((body, nth) => `case ${nth}: { ${insideOf(body)} }`);
  return `{ handler: async ({ nth }) => { switch (nth) { ${cases.join(' ')} } } }`;
}

const warningsOf = (lines: readonly LogLine[]): string[] => lines.filter(({ isWarning }) => isWarning).map(({ text }) => text);

const png = '[137,80,78,71,13,10,26,10]';
const pngPart = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' };

/** What is returned, and what arrives. */
const arriving: readonly (readonly [what: string, body: string, output: unknown])[] = [
  ['nothing', 'undefined', null],
  ['plain data', '({ a: [1, null, "x", {}], b: undefined })', { a: [1, null, 'x', {}] }],
  ['what toJSON gives of another kind', '({ toJSON: () => new Map([["a", new Set([1])]]) })', [['a', [1]]]],
  ['an iterable of its own', '({ *[Symbol.iterator]() { yield 1; yield { a: 2 }; } })', [1, { a: 2 }]],
  [
    'a Map',
    'new Map([["a", 1], ["b", new Set([2])]])',
    [
      ['a', 1],
      ['b', [2]],
    ],
  ],
  ['a Set inside an object', '({ tags: new Set(["x", "y"]) })', { tags: ['x', 'y'] }],
  ['a Date', '({ at: new Date(0) })', { at: '1970-01-01T00:00:00.000Z' }],
  ['a BigInt', '({ n: 12345678901234567890n })', { n: '12345678901234567890' }],
  ['an image as bytes', `new Uint8Array(${png})`, pngPart],
  ['bytes as an ArrayBuffer, inside a list', `[new Uint8Array(${png}).buffer]`, [pngPart]],
  ['a view of a part of a buffer', `new DataView(new Uint8Array([0].concat(${png})).buffer, 1)`, pngPart],
  ['text as bytes', 'new TextEncoder().encode("héllo")', { type: 'file', mediaType: 'text/plain', data: 'aMOpbGxv' }],
  ['other bytes', 'new Uint8Array([0, 255, 1])', { type: 'file', mediaType: 'application/octet-stream', data: 'AP8B' }],
  ['numbers of more than a byte', '({ v: new Float64Array([1.5, 2]), w: new BigInt64Array([3n]) })', { v: [1.5, 2], w: ['3'] }],
  ['a Blob', 'new Blob(["<p>"], { type: "text/html" })', { type: 'file', mediaType: 'text/html', data: 'PHA+' }],
  [
    'a File, deep inside',
    `({ files: [{ f: new File([new Uint8Array(${png})], "a.png") }] })`,
    { files: [{ f: { ...pngPart, name: 'a.png' } }] },
  ],
  [
    'bytes in a part',
    `({ type: "image", mediaType: "image/x-own", data: new Uint8Array([1]) })`,
    { type: 'image', mediaType: 'image/x-own', data: 'AQ==' },
  ],
  ['a stream of text', 'new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } })', 'ab'],
  [
    'a stream of bytes',
    `new ReadableStream({ start(c) { c.enqueue(new Uint8Array(${png}).slice(0, 3)); c.enqueue(new Uint8Array(${png}).slice(3)); c.close(); } })`,
    pngPart,
  ],
  ['an async generator of text', 'return (async function* () { yield "a"; await null; yield "b"; })();', 'ab'],
  [
    'an async generator of objects',
    'return (async function* () { yield { n: 1 }; yield { n: 2n }; })();',
    [{ n: 1 }, { n: '2' }],
  ],
  ['a generator that returns', 'return (function* () { yield "step"; return { done: true }; })();', { done: true }],
  ['an async iterable of a class', 'class S { async *[Symbol.asyncIterator]() { yield "x"; } } return new S();', 'x'],
  ['an iterator', 'new Map([["k", 1]]).keys()', ['k']],
  ['a promise inside an object', '({ later: Promise.resolve(new Set([1])) })', { later: [1] }],
  ['a response of JSON', 'new Response(JSON.stringify({ a: 1 }), { headers: { "content-type": "application/json" } })', { a: 1 }],
  ['a response of text', 'new Response("hi")', 'hi'],
  ['a response of an image', `new Response(new Uint8Array(${png}), { headers: { "content-type": "image/png" } })`, pngPart],
  ['a response without a body', 'new Response(null, { status: 204 })', null],
  [
    'headers and a query',
    '[new Headers({ a: "b" }), new URLSearchParams("x=1&y=2"), new URL("https://a.example/")]',
    [{ a: 'b' }, 'x=1&y=2', 'https://a.example/'],
  ],
  [
    'an error',
    'Object.assign(new TypeError("no", { cause: new Error("why") }), { code: 7 })',
    { code: 7, name: 'TypeError', message: 'no', cause: { name: 'Error', message: 'why' } },
  ],
  [
    'a class with toJSON',
    'class Money { toJSON() { return { amount: 5n }; } } return { price: new Money() };',
    { price: { amount: '5' } },
  ],
  ['a pattern', '({ p: /a+/g })', { p: '/a+/g' }],
  [
    'a key named __proto__',
    'return { m: new Map(), x: JSON.parse(\'{"__proto__": 1}\') };',
    { m: [], x: JSON.parse('{"__proto__": 1}') },
  ],
];

/** What arrives with a word on what did not. */
const warned: readonly (readonly [what: string, body: string, output: unknown, warning: RegExp])[] = [
  ['NaN', '({ rates: [1, 0 / 0] })', { rates: [1, null] }, /rates\[1\] is NaN, which JSON cannot say: null/],
  ['Infinity', '({ max: Infinity, none: null })', { max: null, none: null }, /max is Infinity/],
  ['a function', '({ ok: true, retry() {} })', { ok: true }, /retry is a function, which JSON cannot say: it was left out/],
  ['a symbol in a list', '[Symbol("x"), new Set()]', [null, []], /\[0\] is a symbol/],
  ['an invalid date', '({ at: new Date("never") })', { at: null }, /at is an invalid Date/],
  [
    'private state',
    'class Hidden { #x = 1; } return { it: new Hidden() };',
    { it: {} },
    /it is a Hidden that shows nothing as JSON/,
  ],
  ['a failed response', 'new Response("gone", { status: 410, statusText: "Gone" })', 'gone', /status 410/],
];

/** What is refused in one sentence. */
const refused: readonly (readonly [what: string, body: string, code: string, message: RegExp])[] = [
  ['a function', 'return () => 1;', 'output-invalid', /returned a function, which JSON cannot say/],
  ['a symbol', 'Symbol("s")', 'output-invalid', /returned a symbol/],
  ['NaN', '0 / 0', 'output-invalid', /returned NaN/],
  ['a cycle', 'const a = { list: [] }; a.list.push({ a }); return a;', 'output-invalid', /list\[0\]\.a holds itself/],
  ['a toJSON that throws', 'return { toJSON() { throw new TypeError("mine"); } };', 'handler-threw', /mine/],
];

const endless = 'return (async function* () { for (;;) yield "x".repeat(1000); })();';
const ownJson = 'return [JSON.stringify([new Map([[1, 2]]), new Set(), () => 1]), JSON.stringify(new Uint8Array([1]))].join();';
const bodies = [...[...arriving, ...warned, ...refused].map(([, body]) => body), endless, ownJson];

describe.each(Object.keys(engines))('results on %s', (name) => {
  const run = engines[name] ?? engines.quickjs;

  it.each(arriving)('hand on %s', async (_what, body, output) => {
    const { outcome, warnings } = (await run?.(body)) ?? {};
    expect(outcome).toMatchObject({ status: 'success' });
    expect(outcome?.status === 'success' && outcome.output).toEqual(output);
    expect(warnings).toEqual([]);
  });

  it.each(warned)('hand on what they can of %s, and say so', async (_what, body, output, warning) => {
    const { outcome, warnings } = (await run?.(body)) ?? {};
    expect(outcome?.status === 'success' && outcome.output).toEqual(output);
    expect(warnings).toHaveLength(1);
    expect(warnings?.[0]).toMatch(warning);
  });

  it.each(refused)('refuse %s', async (_what, body, code, message) => {
    const { outcome } = (await run?.(body)) ?? {};
    expect(outcome).toMatchObject({ status: 'error', error: { code, message: expect.stringMatching(message) } });
  });

  it('end a stream without an end at the limit of the output', async () => {
    const { outcome } = (await run?.(endless, { outputBytes: 20_000 })) ?? {};
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'output-exceeded' } });
  });

  it('leave the JSON of the plugin itself as the language has it', async () => {
    const { outcome } = (await run?.(ownJson)) ?? {};
    expect(outcome).toMatchObject({ output: '[{},{},null],{"0":1}' });
  });
});
