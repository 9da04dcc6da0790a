import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listLazyGlobals } from '../../../src/engines/quickjs/host-answers/lazy-globals.ts';
import { expectSameAsNode } from './web-api-compare.ts';
import { startWebGuest, type WebGuest } from './web-api-guest.ts';

let guest: WebGuest;
beforeAll(async () => {
  guest = await startWebGuest();
});
afterAll(() => guest.close());
afterEach(() => guest.crossings.splice(0));

function logged(): unknown[] {
  return guest.crossings.filter(({ op }) => op === 'log').map(({ payload }) => JSON.parse(payload));
}

describe('installWebApi', () => {
  it('keeps to its budget of memory', async () => {
    const fresh = await startWebGuest();
    expect(fresh.pages.installed - fresh.pages.empty).toBeLessThanOrEqual(110);
    expect(fresh.preludeBytes).toBeLessThanOrEqual(35 * 1024);
    fresh.close();
  });

  it('leaves no way to the border but the hook of the shims', async () => {
    expect(
      await guest.run(
        `return [typeof host, Object.keys(globalThis).filter((name) => !/^(settleForTest|result)$/.test(name)), typeof globalThis[Symbol.for('hotcell.askNow')]]`,
      ),
    ).toEqual(['undefined', [], 'function']);
  });

  it('names its classes', async () => {
    await expectSameAsNode(
      guest,
      `return [URL, Headers, Response, AbortSignal, TextDecoder, Blob, ReadableStream].map((Class) => [Class.name, Object.prototype.toString.call(Class.prototype)])`,
    );
  });

  it('makes lazy parts only once and lets plugins replace them', async () => {
    expect(await guest.run(`const same = Blob === Blob; globalThis.File = 5; return [same, File, new Blob(['a']).size]`)).toEqual(
      [true, 5, 1],
    );
  });

  it('has what the language has and the engine lacks', async () => {
    const methods = `{ [Symbol.dispose]: () => 1, [Symbol.asyncDispose]: () => 2 }`;
    await expectSameAsNode(
      guest,
      `const all = ${methods}; return [Object.keys(all), Object.getOwnPropertySymbols(all).map(String)]`,
    );
    await expectSameAsNode(
      guest,
      `async function* count() { yield 1; yield Promise.resolve(2); }
       return [
         await Array.fromAsync(count()), await Array.fromAsync([Promise.resolve(1), 2], (item, index) => item + index),
         await Array.fromAsync({ length: 2, 0: Promise.resolve('a'), 1: 'b' }), await Array.fromAsync('ab'),
         await Array.fromAsync(5).then(String), await Array.fromAsync(null).catch((error) => error.name),
       ]`,
    );
  });
});

describe('listLazyGlobals', () => {
  it('finds what a bundle is likely to touch', () => {
    expect(listLazyGlobals('const f = new Intl.NumberFormat()')).toEqual(['Intl']);
    expect(listLazyGlobals('price.toLocaleString("de")')).toEqual(['Intl']);
    expect(listLazyGlobals('for await (const part of response.body) Buffer.from(part)')).toEqual(['Buffer', 'ReadableStream']);
    expect(listLazyGlobals('export default { handler: () => 1 }')).toEqual([]);
  });
});

describe('console', () => {
  it('tells each line with its level', async () => {
    await guest.run(
      `console.log('a', 1); console.warn({ b: [1, 'x'] }); console.error('%s is %d%%', 'x', 5, 'more'); console.debug(undefined, null); console.assert(true); console.assert(false, 'no')`,
    );
    expect(logged()).toEqual([
      { level: 'info', text: 'a 1' },
      { level: 'warn', text: "{ b: [ 1, 'x' ] }" },
      { level: 'error', text: 'x is 5% more' },
      { level: 'debug', text: 'undefined null' },
      { level: 'error', text: 'Assertion failed no' },
    ]);
  });

  it('groups, counts and draws tables', async () => {
    await guest.run(
      `console.group('g'); console.log('in\\nside'); console.groupEnd(); console.count(); console.count(); console.table([{ a: 1 }, { a: 'x' }])`,
    );
    expect(logged().map((line) => (line as { text: string }).text)).toEqual([
      'g',
      '  in\n  side',
      'default: 1',
      'default: 2',
      "┌─────────┬─────┐\n│ (index) │ a   │\n├─────────┼─────┤\n│ 0       │ 1   │\n│ 1       │ 'x' │\n└─────────┴─────┘",
    ]);
  });

  it('shows values as Node does', async () => {
    const values = [
      `{ a: { b: { c: 1 } } }`,
      `new Map([['k', { v: 1 }]])`,
      `new Set([1, 'two'])`,
      `[1, , 3].fill(0)`,
      `"it's"`,
      `[undefined, null, -0, 10n, Symbol('s')]`,
      `new Date(0)`,
      `/x/g`,
      `{ 'a-b': 1, f() {}, g: class G {} }`,
      `new (class Point { constructor() { this.x = 1; } })()`,
      `Object.create(null)`,
      `new Uint8Array([1, 2])`,
      `(() => { const a = []; a.push(a); return a; })() && 1`,
      `{}`,
      `[]`,
      `{ get x() { return 1; } }`,
    ];
    await guest.run(`for (const value of [${values.join(', ')}]) console.log('%O', value)`);
    const { inspect } = await import('node:util');
    const inNode = new Function(`return [${values.join(', ')}]`)() as unknown[];
    expect(logged().map((line) => (line as { text: string }).text)).toEqual(inNode.map((value) => inspect(value, { depth: 4 })));
  });

  it('survives values that fight back', async () => {
    await guest.run(
      `const a = { }; a.a = a; console.log(a, { get x() { throw new Error('no'); } }, new Proxy({}, { ownKeys() { throw new Error('no'); } }), 'x'.repeat(5) , Array(500).fill(1).length, { toString: null })`,
    );
    expect(logged()).toHaveLength(1);
    await guest.run(`console.log(Array(100000).fill('y'.repeat(100)))`);
    expect(JSON.stringify(logged()).length).toBeLessThan(50_000);
  });
});

describe('what the engine lacks of language and web', () => {
  it.each([
    'Array.fromAsync([1, Promise.resolve(2)], async (n) => n * 2)',
    "Array.fromAsync({ length: 2, 0: 'a', 1: 'b' })",
    'Array.fromAsync((async function* () { yield 1; yield 2; })())',
    'Array.fromAsync(7)',
    'Array.fromAsync(null).catch(({ name }) => name)',
    '[typeof Symbol.dispose, typeof Symbol.asyncDispose]',
    'new CountQueuingStrategy({ highWaterMark: 3 }).size()',
    'new ByteLengthQueuingStrategy({ highWaterMark: 3 }).size(new Uint8Array(7))',
    'const writer = new WritableStream({ write: () => new Promise(() => {}) }, new ByteLengthQueuingStrategy({ highWaterMark: 10 })).getWriter(); writer.write(new Uint8Array(4)); writer.write(new Uint8Array(8)); writer.desiredSize',
    "[performance.mark('a').name, performance.measure('b').entryType]",
    "[DOMException.ABORT_ERR, new DOMException('', 'AbortError').code, new DOMException('').code]",
    'const buffer = new ArrayBuffer(3); [structuredClone({ buffer }, { transfer: [buffer] }).buffer.byteLength, buffer.byteLength]',
    'console.clear()',
  ])('is as in Node: %s', async (code) => {
    const [, before = '', last = ''] = /^(.*; )?(.*)$/.exec(code) ?? [];
    await expectSameAsNode(guest, `${before} return ${last};`);
  });
});

describe('timers', () => {
  it('fire with their arguments, and not when cleared', async () => {
    expect(
      await guest.run(
        `const seen = []; setTimeout((...args) => seen.push(...args), 5, 'a', 'b'); const cleared = setTimeout(() => seen.push('never'), 5); clearTimeout(cleared); const byNumber = setTimeout(() => seen.push('never'), 5); clearTimeout(+byNumber);
         let ticks = 0; await new Promise((resolve) => { const timer = setInterval(() => { if (++ticks === 3) { clearInterval(timer); resolve(); } }, 2); }); await new Promise(setImmediate); return [seen, ticks, typeof cleared.unref]`,
      ),
    ).toEqual([['a', 'b'], 3, 'function']);
  });

  it('tell the host how long to wait', async () => {
    await guest.run(
      `await new Promise((resolve) => setTimeout(resolve, 12.7)); setTimeout(() => {}, -5); setTimeout(() => {}, 'x')`,
    );
    expect(guest.crossings.map(({ payload }) => JSON.parse(payload).ms)).toEqual([12, 0]);
  });

  it('have the host wait for the next of them alone', async () => {
    const fired = await guest.run(
      `const fired = []; const set = (ms) => setTimeout(() => fired.push(ms), ms);
       set(30); const cleared = set(5); set(20); set(10); clearTimeout(cleared); const late = set(40); late.refresh();
       for (let n = 0; n < 500; n++) setTimeout(() => {}, 20);
       await new Promise((resolve) => { const ticks = setInterval(() => { fired.push('tick'); if (fired.length > 7) resolve(clearInterval(ticks)); }, 15); });
       return fired`,
    );
    expect(fired).toEqual([10, 'tick', 20, 30, 'tick', 40, 'tick', 'tick']);
    expect(guest.crossings.filter(({ op }) => op === 'timer').length).toBeLessThan(20);
  });

  it('do not take the end of a wait for that of another', async () => {
    const fresh = await startWebGuest();
    const early = `const fired = []; const cleared = setTimeout(() => fired.push('cleared'), 5); settleForTest(1, true, '');
      clearTimeout(cleared); setTimeout(() => fired.push('late'), 1000); for (let n = 0; n < 5; n++) await null; return fired`;
    expect(await fresh.run(early)).toEqual([]);
    fresh.close();
  });

  it('let what one of them resolves go on before the next', async () => {
    const order = `const order = []; setTimeout(() => { order.push(1); Promise.resolve().then(() => order.push(2)); }); setTimeout(() => order.push(3));`;
    expect(await guest.run(`${order} await new Promise((resolve) => setTimeout(resolve, 1)); return order`)).toEqual([1, 2, 3]);
  });

  it('abort signals in their time', async () => {
    await guest.run(
      `const signal = AbortSignal.timeout(250); await new Promise((resolve) => signal.addEventListener('abort', resolve)); return signal.reason.name`,
    );
    expect(guest.crossings.map(({ op, payload }) => [op, JSON.parse(payload).ms])).toEqual([['timer', 250]]);
  });

  it('log what their callbacks throw', async () => {
    await guest.run(
      `await new Promise((resolve) => { setTimeout(() => { resolve(); throw new TypeError('in timer'); }, 1); }); queueMicrotask(() => { throw 'in task'; }); await 0; await 0; await 0`,
    );
    expect(logged()).toEqual([
      { level: 'error', text: expect.stringContaining('Uncaught TypeError: in timer'), isWarning: true },
      { level: 'error', text: "Uncaught 'in task'", isWarning: true },
    ]);
  });

  it('refuse what is no function', async () => {
    await expect(guest.run(`setTimeout('alert(1)')`)).rejects.toMatchObject({ name: 'TypeError' });
  });
});

describe('crypto', () => {
  it('digests as the host does', async () => {
    for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
      const hex = await guest.run(
        `return [...new Uint8Array(await crypto.subtle.digest('${name}', new TextEncoder().encode('tëst')))].map((byte) => byte.toString(16).padStart(2, '0')).join('')`,
      );
      expect(hex).toBe(createHash(name.replace('-', '')).update('tëst').digest('hex'));
    }
    await expect(guest.run(`await crypto.subtle.digest('MD5', new Uint8Array())`)).rejects.toMatchObject({
      name: 'NotSupportedError',
    });
  });

  it('gives random values of the right kind', async () => {
    expect(
      await guest.run(
        `const a = crypto.getRandomValues(new Uint32Array(100)); return [new Set(a).size > 90, Math.max(...a) > 65536, crypto.randomUUID() !== crypto.randomUUID(), /^[\\da-f]{8}-[\\da-f]{4}-4[\\da-f]{3}-[89ab][\\da-f]{3}-[\\da-f]{12}$/.test(crypto.randomUUID())]`,
      ),
    ).toEqual([true, true, true, true]);
    await expect(guest.run(`crypto.getRandomValues(new Uint8Array(65537))`)).rejects.toMatchObject({
      name: 'QuotaExceededError',
    });
    await expect(guest.run(`crypto.getRandomValues(new Float64Array(1))`)).rejects.toMatchObject({ name: 'TypeMismatchError' });
  });

  it('names what it does not have', async () => {
    await expect(guest.run(`await crypto.subtle.importKey('raw', new Uint8Array(8), 'DES-CBC', true, [])`)).rejects.toMatchObject(
      {
        name: 'NotSupportedError',
        message: expect.stringContaining('The engine deno'),
      },
    );
  });
});

describe('performance', () => {
  it('counts from its first use and never back', async () => {
    expect(
      await guest.run(
        `const first = performance.now(); const second = performance.now(); return [first >= 0, second >= first, performance.timeOrigin > 1e12]`,
      ),
    ).toEqual([true, true, true]);
  });
});
