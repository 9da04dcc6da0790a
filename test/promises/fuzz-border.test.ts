import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../src/config/limits.ts';
import type { Program } from '../../src/engines/engine.ts';
import { type CellEngine, outputOf, startCellEngine } from '../engines/quickjs/cell-engine.ts';
import { anyJson, anyText, fuzzParameters, fuzzTimeoutMs, nearlyRight, seeded } from './escape/fuzz.ts';

const ops = [
  'clock',
  'log',
  'progress',
  'timer',
  'cancel',
  'config.get',
  'env.get',
  'module',
  'loaded',
  'url.parse',
  'url.set',
  'query.parse',
  'query.write',
  'text.encode',
  'text.decode',
  'text.label',
  'base64.write',
  'base64.read',
  'bytes.from',
  'bytes.text',
  'crypto.random',
  'crypto.uuid',
  'crypto.digest',
  'crypto.hmac',
  'intl.call',
  'intl.value',
  'intl.list',
  'intl.locale',
  'fetch',
  'kv.get',
  'settle',
];
const ends = ['return', 'throw'];
const payload = fc.oneof(
  anyText,
  anyJson.map((value) => JSON.stringify(value)),
  nearlyRight(
    [
      'service',
      'method',
      'locales',
      'options',
      'args',
      'input',
      'base',
      'href',
      'name',
      'value',
      'label',
      'fatal',
      'ignoreBOM',
      'text',
      'encoding',
      'algorithm',
      'keyBytes',
      'kind',
      'tag',
      'id',
      'ms',
      'level',
      'done',
      'message',
      'stack',
      'code',
    ],
    {
      service: fc.constantFrom('NumberFormat', 'DateTimeFormat', 'Segmenter', 'constructor'),
      method: fc.constantFrom('format', 'resolvedOptions', 'segment', 'toLocaleString', 'constructor', 'supportedValuesOf'),
      locales: fc.array(fc.constantFrom('en', 'de-CH', 'x', '')),
      options: fc.dictionary(anyText, fc.oneof(anyText, fc.integer()), { maxKeys: 2 }),
      args: fc.array(fc.oneof(anyText, fc.double()), { maxLength: 2 }),
      kind: fc.constantFrom('number', 'bigint', 'date', 'string'),
      encoding: fc.constantFrom('utf8', 'hex', 'base64'),
      algorithm: fc.constantFrom('sha256', 'md5', 'x'),
      keyBytes: fc.integer(),
      value: anyText,
      text: anyText,
    },
  ).map((value) => JSON.stringify(value)),
);
const message = fc.record({
  op: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...ops) }, { weight: 1, arbitrary: fc.constantFrom(...ends) }, anyText),
  payload,
  body: fc.constantFrom('none', 'empty', 'bytes', 'detached', 'view', 'text', 'shared', 'resizable'),
  asked: fc.constantFrom('hook', 'context'),
});

const guest = `(() => {
  const ask = globalThis[Symbol.for('hotcell.askNow')];
  const bodies = { none: () => undefined, empty: () => new ArrayBuffer(0), bytes: () => new Uint8Array([1, 2, 255, 0]).buffer, view: () => new Uint8Array(3), text: () => 'text',
    detached: () => { const buffer = new ArrayBuffer(4); buffer.transfer?.(); return buffer }, shared: () => new SharedArrayBuffer(4), resizable: () => new ArrayBuffer(4, { maxByteLength: 64 }) };
  return { handler: async ({ messages }, context) => { let answered = 0;
    for (const { op, payload, body, asked } of messages) {
      try { if (asked === 'hook') ask(op, payload, bodies[body]()); else await context.agent[op](payload); answered++ } catch (error) { if (typeof error.message !== 'string') throw error }
    }
    return answered } } })()`;

let cells: CellEngine;
let fuzzed: Program;
let neighbour: Program;
beforeAll(async () => {
  cells = await startCellEngine();
  fuzzed = await cells.load(guest);
  neighbour = await cells.load('{ handler: ({ n }) => n + 1 }');
});
afterAll(() => cells.close());

describe('the border', () => {
  it(seeded('answers or refuses whatever a guest sends'), { timeout: fuzzTimeoutMs() }, async () => {
    const perCall = 20;
    const { numRuns, seed } = fuzzParameters(3000);
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: perCall, maxLength: perCall }), async (messages) => {
        cells.logs.length = 0;
        const outcome = await cells.call(fuzzed, {
          args: { messages },
          limits: { ...defaultLimits, cpuMs: 2000, wallMs: 10_000 },
        });
        if (outcome.status !== 'success') {
          expect(['engine-failed', 'time-exceeded', 'internal']).not.toContain(outcome.error.code);
          expect(outcome.error.message.length).toBeLessThan(10_000);
        }
        if (++calls % 10 === 0) expect(outputOf(await cells.call(neighbour, { args: { n: calls } }))).toBe(calls + 1);
      }),
      { numRuns: Math.max(1, Math.round(numRuns / perCall)), seed },
    );
    expect(cells.killed).toEqual([]);
  });

  it(seeded('reads any bytes as a plugin, and loads it or says why not'), { timeout: fuzzTimeoutMs() }, async () => {
    const { numRuns, seed } = fuzzParameters(200);
    const exported = anyJson.map((value) => `globalThis.__hotcellExports = ${JSON.stringify(value) ?? 'null'};`);
    const forged = payload.map((text) => `globalThis[Symbol.for('hotcell.askNow')]('loaded', ${JSON.stringify(text)});`);
    let loads = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText, exported, forged), async (code) => {
        const key = `fuzz-${++loads}`;
        const result = await cells.engine.load({ key, label: key, code, limits: defaultLimits });
        cells.engine.discard({ programKey: key });
        if (!result.ok) expect(['engine-failed', 'internal']).not.toContain(result.error.code);
      }),
      { numRuns, seed },
    );
    expect(outputOf(await cells.call(neighbour, { args: { n: 1 } }))).toBe(2);
  });
});
