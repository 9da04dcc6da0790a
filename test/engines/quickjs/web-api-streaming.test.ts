import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Crossing, startWebGuest, type WebGuest } from './web-api-guest.ts';

const encode = (text: string) => new TextEncoder().encode(text);

let guest: WebGuest;
/** What `fetch.read` answers next; undefined leaves the guest waiting. */
let pieces: ({ text: string; done?: boolean; truncated?: boolean } | { code: string } | undefined)[] = [];
beforeAll(async () => {
  guest = await startWebGuest(answer);
});
afterAll(() => guest.close());
afterEach(() => guest.crossings.splice(0));

function answer({ op }: Crossing) {
  if (op === 'fetch') {
    const facts = {
      status: 200,
      statusText: 'OK',
      headers: [],
      url: 'https://api.example/',
      redirected: false,
      truncated: false,
    };
    return { ok: true, payload: JSON.stringify({ ...facts, stream: 'str-1' }), body: encode('[1,') };
  }
  if (op === 'fetch.cancel') return { ok: true, payload: 'null' };
  if (op !== 'fetch.read') return undefined;
  const piece = pieces.shift();
  if (piece === undefined) return undefined;
  if ('code' in piece) return { ok: false, payload: JSON.stringify({ code: piece.code, message: 'It is gone.' }) };
  const { text, done = false, truncated = false } = piece;
  return { ok: true, payload: JSON.stringify({ done, truncated }), body: encode(text) };
}

const asked = () => guest.crossings.filter(({ id }) => id > 0).map(({ op, payload }) => [op, JSON.parse(payload)] as const);
const rest = (fill: boolean) => ['fetch.read', { stream: 'str-1', fill }];

describe('a response that goes on', () => {
  it.each([
    ['r.json()', [1, 2, 3]],
    ['r.text()', '[1,2,3]'],
    ['r.bytes().then((b) => b.length)', 7],
    ['r.arrayBuffer().then((b) => b.byteLength)', 7],
    ['r.blob().then((b) => b.size)', 7],
    ['Promise.all([r.clone().text(), r.json()])', ['[1,2,3]', [1, 2, 3]]],
  ])('is read to its end by %s', async (read, result) => {
    pieces = [{ text: '2,' }, { text: '3]', done: true }];
    expect(await guest.run(`const r = await fetch('https://api.example/'); return ${read}`)).toEqual(result);
    expect(asked().slice(1)).toEqual([rest(!read.includes('clone')), rest(!read.includes('clone'))]);
  });

  it('comes chunk by chunk over body, and is asked for only when it is read', async () => {
    pieces = [{ text: '2,' }, { text: '3]' }, { text: '', done: true }];
    const result = await guest.run(
      `const r = await fetch('https://api.example/'); const reader = r.body.getReader(); const read = async () => { const { done, value } = await reader.read(); return done ? 'end' : new TextDecoder().decode(value); };
       return [await read(), await read(), await read(), await read(), r.bodyUsed]`,
    );
    expect(result).toEqual(['[1,', '2,', '3]', 'end', true]);
    expect(asked().slice(1)).toEqual([rest(false), rest(false), rest(false)]);
    guest.crossings.splice(0);
    expect(await guest.run(`const r = await fetch('https://api.example/'); r.body; return r.bodyUsed`)).toBe(false);
    expect(asked().map(([op]) => op)).toEqual(['fetch']);
  });

  it('is closed at the host when the guest leaves a loop over it', async () => {
    pieces = [{ text: '2,' }];
    await guest.run(
      `const r = await fetch('https://api.example/'); let n = 0; for await (const chunk of r.body) if (++n === 2) break;`,
    );
    expect(asked().at(-1)).toEqual(['fetch.cancel', { stream: 'str-1' }]);
  });

  it('is closed at the host when its signal is aborted, and the read rejects with the reason', async () => {
    pieces = [undefined];
    const result = await guest.run(
      `const c = new AbortController(); const r = await fetch('https://api.example/', { signal: c.signal }); setTimeout(() => c.abort('why'), 1); const why = await r.text().catch((e) => e); await new Promise((resolve) => setTimeout(resolve)); return why`,
    );
    expect(result).toBe('why');
    expect(asked()).toContainEqual(['fetch.cancel', { stream: 'str-1' }]);
    expect(guest.crossings.some(({ op }) => op === 'cancel')).toBe(true);
  });

  it('says at its end that it was cut', async () => {
    pieces = [{ text: '2', done: true, truncated: true }];
    const result = guest.run(`const r = await fetch('https://api.example/'); if (r.truncated) throw 1; await r.json()`);
    await expect(result).rejects.toMatchObject({ message: expect.stringContaining('cut at the size limit') });
  });

  it('rejects with the code of the host when the rest is gone', async () => {
    pieces = [{ code: 'interrupted' }];
    await expect(guest.run(`const r = await fetch('https://api.example/'); await r.text()`)).rejects.toMatchObject({
      name: 'TypeError',
      code: 'interrupted',
      message: 'It is gone.',
    });
  });

  it('is read once', async () => {
    pieces = [{ text: '2]', done: true }];
    await expect(
      guest.run(`const r = await fetch('https://api.example/'); await r.text(); await r.text()`),
    ).rejects.toMatchObject({ message: expect.stringContaining('read already') });
  });
});
