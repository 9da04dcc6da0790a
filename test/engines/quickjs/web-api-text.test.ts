import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSameAsNode } from './web-api-compare.ts';
import { startWebGuest, type WebGuest } from './web-api-guest.ts';

let guest: WebGuest;
beforeAll(async () => {
  guest = await startWebGuest();
});
afterAll(() => guest.close());

const texts = fc.sample(
  fc.string({
    unit: fc.oneof(fc.constantFrom('\0', '\ud800', '\udc00', '\ufeff', '😀', 'ß', '\u2028'), fc.string({ maxLength: 3 })),
    maxLength: 12,
  }),
  {
    numRuns: 150,
    seed: 7420,
  },
);
const byteLists = fc.sample(
  fc.array(
    fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0xef, 0xbb, 0xbf, 0xf0, 0x9f, 0x98, 0x80, 0xc3, 0xed, 0xa0)),
    { maxLength: 16 },
  ),
  {
    numRuns: 150,
    seed: 7420,
  },
);

describe('TextEncoder', () => {
  it('encodes any text as Node does, NUL and lone surrogates included', async () => {
    await expectSameAsNode(guest, `return ${JSON.stringify(texts)}.map((text) => [...new TextEncoder().encode(text)])`);
  });

  it('encodes into what fits', async () => {
    await expectSameAsNode(
      guest,
      `return ['aß😀b', '', '\\ud800x'].map((text) => [0, 1, 2, 3, 5, 7, 8, 20].map((size) => { const into = new Uint8Array(size); return [new TextEncoder().encodeInto(text, into), [...into]]; }))`,
    );
  });
});

describe('TextDecoder', () => {
  it('decodes any bytes as Node does', async () => {
    await expectSameAsNode(
      guest,
      `const attempt = (make) => { try { return make(); } catch (error) { return error.name; } };
       return ${JSON.stringify(byteLists)}.map((list) => { const bytes = Uint8Array.from(list); return [{}, { fatal: true }, { ignoreBOM: true }].map((options) => attempt(() => new TextDecoder('utf8', options).decode(bytes))); })`,
    );
  });

  it('decodes a stream cut anywhere as Node does', async () => {
    await expectSameAsNode(
      guest,
      `const bytes = [...new TextEncoder().encode('\\ufeffaß😀\\ufeffé'), 0xf0, 0x9f, 0x41, 0xc3];
       const cuts = []; for (let at = 0; at <= bytes.length; at++) { const decoder = new TextDecoder(); cuts.push(decoder.decode(Uint8Array.from(bytes.slice(0, at)), { stream: true }) + '|' + decoder.decode(Uint8Array.from(bytes.slice(at)))); }
       return cuts.map((cut) => cut.replace('|', ''))`,
    );
  });

  it('knows legacy encodings and refuses unknown ones', async () => {
    await expectSameAsNode(
      guest,
      `return [new TextDecoder('latin1').encoding, new TextDecoder('utf-16').decode(Uint8Array.of(65, 0, 0xac, 0x20)), new TextDecoder('shift_jis').decode(Uint8Array.of(0x82, 0xa0))]`,
    );
    await expect(guest.run(`new TextDecoder('klingon')`)).rejects.toMatchObject({ name: 'RangeError' });
  });

  it('reads exactly the bytes of a view', async () => {
    expect(await guest.run(`return new TextDecoder().decode(new Uint8Array([65, 66, 67, 68]).subarray(1, 3))`)).toBe('BC');
  });
});

describe('atob and btoa', () => {
  it('work as in Node', async () => {
    await expectSameAsNode(
      guest,
      `const attempt = (make) => { try { return make(); } catch (error) { return [error.name, error.code]; } };
       return ['', 'a', 'ab', '\\0\\xff', 'ä', '€', 'YQ==', 'YQ', 'Y Q\\n=', 'Y', '====', 'a-b_'].map((text) => [attempt(() => btoa(text)), attempt(() => atob(text))])`,
    );
  });
});

describe('structuredClone', () => {
  it('copies what Node copies', async () => {
    await expectSameAsNode(
      guest,
      `const error = Object.assign(new RangeError('no', { cause: { a: 1 } }), { extra: 1 });
       const bytes = new Uint8Array([1, 2, 3, 4]);
       const value = { date: new Date(5), map: new Map([[{ k: 1 }, new Set([1, 'x'])]]), re: /a+/gi, big: 2n, list: [1, , 3], bytes, part: bytes.subarray(1, 3), view: new DataView(bytes.buffer, 1), boxed: Object('s'), error, u: undefined };
       value.self = value; value.map.set('self', value);
       const copy = structuredClone(value);
       return [copy.self === copy, copy !== value, copy.map.get('self') === copy, copy.date.getTime(), copy.date instanceof Date, [...copy.map.keys()][0], [...[...copy.map.values()][0]], String(copy.re), String(copy.big), 1 in copy.list, copy.list.length,
         [...copy.part], copy.part.buffer === copy.bytes.buffer, copy.bytes.buffer !== bytes.buffer, copy.view.byteOffset, typeof copy.boxed, copy.error.constructor.name, copy.error.message, copy.error.cause, 'extra' in copy.error, 'u' in copy]`,
    );
  });

  it.each(['() => 1', 'Symbol()', 'new WeakMap()', 'Promise.resolve()', '{ deep: [() => 1] }'])('refuses %s', async (code) => {
    await expect(guest.run(`structuredClone(${code})`)).rejects.toMatchObject({ name: 'DataCloneError', code: 25 });
  });

  it('transfers buffers', async () => {
    await expectSameAsNode(
      guest,
      `const buffer = new ArrayBuffer(8); const copy = structuredClone({ buffer }, { transfer: [buffer] }); return [buffer.byteLength, copy.buffer.byteLength]`,
    );
  });

  it('does not fall for __proto__', async () => {
    expect(
      await guest.run(
        `const copy = structuredClone(JSON.parse('{"__proto__": {"polluted": 1}}')); return [copy.polluted === undefined, Object.keys(copy), ({}).polluted === undefined]`,
      ),
    ).toEqual([true, ['__proto__'], true]);
  });
});
