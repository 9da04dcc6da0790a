import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectSameAsNode } from './web-api-compare.ts';
import { type Crossing, startWebGuest, type WebGuest } from './web-api-guest.ts';

const page = new TextEncoder().encode('{"hello":"wörld"}');
const facts = {
  status: 200,
  statusText: 'OK',
  headers: [
    ['content-type', 'application/json'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ],
  url: 'https://api.example/final',
  redirected: true,
  truncated: false,
};

let guest: WebGuest;
beforeAll(async () => {
  guest = await startWebGuest(answer);
});
afterAll(() => guest.close());
afterEach(() => guest.crossings.splice(0));

function answer({ op, payload }: Crossing) {
  if (op !== 'fetch') return undefined;
  const { url } = JSON.parse(payload);
  if (url.includes('refused'))
    return { ok: false, payload: JSON.stringify({ code: 'network-refused', message: 'That address is refused.' }) };
  if (url.includes('never')) return undefined;
  if (url.includes('cut')) return { ok: true, payload: JSON.stringify({ ...facts, truncated: true }), body: page.subarray(0, 5) };
  if (url.includes('empty')) return { ok: true, payload: JSON.stringify({ ...facts, status: 204, statusText: 'No Content' }) };
  return { ok: true, payload: JSON.stringify(facts), body: page };
}

function sent(): { request: Record<string, unknown>; body: string | undefined } {
  const crossing = guest.crossings.find(({ op }) => op === 'fetch');
  if (!crossing) throw new Error('nothing was sent');
  return { request: JSON.parse(crossing.payload), body: crossing.body && new TextDecoder().decode(crossing.body) };
}

describe('fetch', () => {
  it('sends the request and gives the response', async () => {
    const result = await guest.run(
      `const r = await fetch('https://api.example/x?y=ä', { headers: { 'X-One': '1', accept: 'text/plain' } });
       return [r.status, r.ok, r.statusText, r.url, r.redirected, r.type, r.headers.get('content-type'), r.headers.getSetCookie(), await r.json(), r.bodyUsed, r instanceof Response]`,
    );
    expect(result).toEqual([
      200,
      true,
      'OK',
      facts.url,
      true,
      'basic',
      'application/json',
      ['a=1', 'b=2'],
      { hello: 'wörld' },
      true,
      true,
    ]);
    expect(sent()).toEqual({
      request: {
        url: 'https://api.example/x?y=%C3%A4',
        method: 'GET',
        headers: [
          ['accept', 'text/plain'],
          ['x-one', '1'],
        ],
        redirect: 'follow',
      },
      body: undefined,
    });
  });

  it.each([
    [`'tëxt'`, 'text/plain;charset=UTF-8', 'tëxt'],
    [`new URLSearchParams({ a: 'b c' })`, 'application/x-www-form-urlencoded;charset=UTF-8', 'a=b+c'],
    [`new Uint8Array([97, 98]).subarray(1)`, undefined, 'b'],
    [`new Blob(['x', 'y'], { type: 'text/x' })`, 'text/x', 'xy'],
    [`new Blob(['x'])`, undefined, 'x'],
    [`ReadableStream.from([new Uint8Array([97]), new Uint8Array([98])])`, undefined, 'ab'],
  ])('sends the body %s', async (body, type, text) => {
    await guest.run(`await fetch('https://api.example/', { method: 'post', body: ${body} })`);
    const { request, body: sentBody } = sent();
    expect(request).toMatchObject({ method: 'POST', headers: type === undefined ? [] : [['content-type', type]] });
    expect(sentBody).toBe(text);
  });

  it('sends forms as multipart', async () => {
    await guest.run(
      `const form = new FormData(); form.append('na"me', 'v\\n'); form.append('file', new File(['zz'], 'ü.txt', { type: 'text/plain' })); await fetch('https://api.example/', { method: 'POST', body: form })`,
    );
    const { request, body } = sent();
    const headers = request.headers as [string, string][];
    const form = await new Response(body, { headers }).formData();
    expect([...form.keys()]).toEqual(['na"me', 'file']);
    expect(form.get('na"me')).toBe('v\r\n');
    const file = form.get('file');
    expect(file instanceof File && [file.name, file.type, await file.text()]).toEqual(['ü.txt', 'text/plain', 'zz']);
  });

  it('rejects with a TypeError that keeps code and sentence of the host', async () => {
    await expect(guest.run(`await fetch('https://refused.example/')`)).rejects.toMatchObject({
      name: 'TypeError',
      code: 'network-refused',
      message: 'That address is refused.',
    });
  });

  it('says that a body was cut when its JSON does not parse', async () => {
    const failed = guest.run(`const r = await fetch('https://cut.example/'); if (!r.truncated) throw 1; return r.json()`);
    await expect(failed).rejects.toMatchObject({
      name: 'SyntaxError',
      message: expect.stringContaining('cut at the size limit'),
    });
  });

  it('takes responses without a body', async () => {
    expect(await guest.run(`const r = await fetch('https://empty.example/'); return [r.status, r.body, await r.text()]`)).toEqual(
      [204, null, ''],
    );
  });

  it('stops waiting when the signal is aborted', async () => {
    expect(
      await guest.run(
        `const c = new AbortController(); const p = fetch('https://never.example/', { signal: c.signal }); setTimeout(() => c.abort(), 1); return p.catch((e) => [e.name, e instanceof DOMException])`,
      ),
    ).toEqual(['AbortError', true]);
    expect(
      await guest.run(`return fetch('https://never.example/', { signal: AbortSignal.timeout(5) }).catch((e) => e.name)`),
    ).toBe('TimeoutError');
    guest.crossings.splice(0);
    expect(await guest.run(`return fetch('https://api.example/', { signal: AbortSignal.abort('why') }).catch((e) => e)`)).toBe(
      'why',
    );
    expect(guest.crossings).toEqual([]);
  });

  it.each([
    [`fetch('/relative')`, 'Invalid URL'],
    [`fetch('https://user:secret@api.example/')`, 'user name or password'],
    [`fetch('https://api.example/', { body: 'x' })`, 'cannot have a body'],
    [`fetch('https://api.example/', { method: 'TRACE' })`, 'TRACE'],
    [`fetch('https://api.example/', { headers: { 'bad name': 'x' } })`, 'bad name'],
    [`fetch('https://api.example/', { headers: { a: 'x\\r\\ny: 1' } })`, 'not allowed'],
  ])('refuses %s before it leaves', async (code, complaint) => {
    await expect(guest.run(`await ${code}`)).rejects.toThrow(complaint);
    expect(guest.crossings).toEqual([]);
  });
});

describe('Headers', () => {
  it('combines, sorts and keeps cookies apart as Node does', async () => {
    await expectSameAsNode(
      guest,
      `const h = new Headers([['B', '2'], ['a', ' 1 '], ['b', '3'], ['Set-Cookie', 'x=1'], ['set-cookie', 'y=2']]);
       const out = [[...h], h.get('B'), h.has('A'), h.get('none'), h.getSetCookie(), h.get('set-cookie'), [...h.keys()], [...h.values()]];
       h.set('b', 'new'); h.delete('A'); h.append('c', ''); h.forEach((value, name) => out.push([name, value])); return [...out, [...new Headers(h)], [...new Headers({ x: 1 })]]`,
    );
  });

  it('cannot be changed on a fetched response', async () => {
    await expect(guest.run(`(await fetch('https://api.example/')).headers.set('a', 'b')`)).rejects.toMatchObject({
      name: 'TypeError',
    });
  });
});

describe('Response', () => {
  it('reads its body once, as Node does', async () => {
    await expectSameAsNode(
      guest,
      `const r = new Response('\\ufeffhé'); const copy = r.clone(); const out = [r.bodyUsed, await r.text(), r.bodyUsed, [...new Uint8Array(await copy.arrayBuffer())]];
       out.push(await r.text().catch((e) => e.name)); try { r.clone(); } catch (e) { out.push(e.name); }
       const b = new Response(new Uint8Array([1, 2])); out.push([...(await b.bytes())], (await new Response('x', { headers: { 'content-type': 'a/b' } }).blob()).type, await new Response().text(), new Response().body); return out`,
    );
  });

  it('has json, redirect and error as Node has', async () => {
    await expectSameAsNode(
      guest,
      `const j = Response.json({ a: 1 }, { status: 201 }); const r = Response.redirect('http://a.example/ä', 303); const e = Response.error();
       return [j.status, j.headers.get('content-type'), await j.json(), r.status, r.headers.get('location'), e.status, e.type, new Response('x', { status: 404 }).ok]`,
    );
  });

  it('refuses a status out of range and a body where none may be', async () => {
    await expectSameAsNode(
      guest,
      `return [100, 199, 600, 0, 'x'].map((status) => { try { new Response('', { status }); } catch (e) { return e.name; } })`,
    );
    await expectSameAsNode(guest, `try { new Response('x', { status: 204 }); } catch (e) { return e.name; }`);
  });
});

describe('Request', () => {
  it('copies and overrides as in Node', async () => {
    await expectSameAsNode(
      guest,
      `const r = new Request('http://a.example/x#h', { method: 'put', body: 'b', headers: { a: '1' } }); const c = r.clone(); const o = new Request(r.clone(), { method: 'POST', headers: { z: '2' } });
       return [r.method, r.url, [...r.headers], await r.text(), await c.text(), [...c.headers], o.method, [...o.headers], r.redirect, r.signal.aborted]`,
    );
  });
});

describe('AbortSignal', () => {
  it('works as in Node', async () => {
    await expectSameAsNode(
      guest,
      `const c = new AbortController(); const seen = []; c.signal.onabort = (e) => seen.push(e.type, e.target === c.signal); c.signal.addEventListener('abort', () => seen.push('two'));
       const any = AbortSignal.any([c.signal, new AbortController().signal]); any.addEventListener('abort', () => seen.push('any'));
       c.abort(); c.abort('again'); try { c.signal.throwIfAborted(); } catch (e) { seen.push(e.name, e.code); }
       try { new AbortSignal(); } catch (e) { seen.push(e.name); } return [...seen, any.aborted, any.reason.name, AbortSignal.any([AbortSignal.abort(7)]).reason]`,
    );
  });
});

describe('EventTarget', () => {
  it('works as in Node', async () => {
    await expectSameAsNode(
      guest,
      `const t = new EventTarget(); const seen = []; const l = (e) => seen.push(e.type); t.addEventListener('a', l); t.addEventListener('a', l); t.addEventListener('a', { handleEvent(e) { seen.push('object', e.detail); e.preventDefault(); } }, { once: true });
       const c = new AbortController(); t.addEventListener('a', () => seen.push('signal'), { signal: c.signal }); c.abort();
       const out = [t.dispatchEvent(new CustomEvent('a', { detail: 5, cancelable: true })), t.dispatchEvent(new Event('a', { cancelable: true }))]; t.removeEventListener('a', l); t.dispatchEvent(new Event('a'));
       t.addEventListener('s', (e) => { e.stopImmediatePropagation(); seen.push('first'); }); t.addEventListener('s', () => seen.push('second')); t.dispatchEvent(new Event('s')); return [...out, seen]`,
    );
  });
});
