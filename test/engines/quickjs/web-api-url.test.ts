import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSameAsNode } from './web-api-compare.ts';
import { startWebGuest, type WebGuest } from './web-api-guest.ts';

let guest: WebGuest;
beforeAll(async () => {
  guest = await startWebGuest();
});
afterAll(() => guest.close());

const describeUrl = `const show = (u) => u && [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, [...u.searchParams], String(u), JSON.stringify(u)];
  const attempt = (make) => { try { return show(make()); } catch (error) { return error.constructor.name + ' ' + error.code; } };`;

const inputs = [
  'http://EXAMPLE.com:80/../a/./b?x=1#y',
  'https://user:p%40ss@exämple.de:8443/pfad/ü?q=ä b#ß',
  'file:///etc/passwd',
  'data:text/plain,hello world',
  'http://[::1]:3000/',
  'http://192.168.0.257/',
  'http://0x7f.1/',
  'http://a b/',
  'javascript:alert(1)',
  'blob:https://a.example/uuid',
  '//no-scheme.example/',
  '/relative',
  '',
  'http://',
  'http:\\\\back\\slash',
  'http://a/%zz%41?%zz=%41',
  'http://xn--nxasmq6b/',
  'HTTP://ex.com:65536/',
  'http://a/\u0000\ud800?\ud800=1',
  'non-special://host:99/../x?y z#a b',
];

describe('URL', () => {
  it.each(inputs)('parses %j as Node does', async (input) => {
    const text = JSON.stringify(input);
    await expectSameAsNode(
      guest,
      `${describeUrl} return [attempt(() => new URL(${text})), attempt(() => new URL(${text}, 'https://base.example/dir/file?q#h'))]`,
    );
  });

  it('parses arbitrary text as Node does', async () => {
    const part = fc.oneof(
      fc.constantFrom(
        'http',
        'https',
        'ws',
        'file',
        ':',
        '//',
        '/',
        '..',
        '?',
        '#',
        '@',
        '[',
        ']',
        '%41',
        '%',
        'a.example',
        '127.1',
        ':80',
        '=',
        '&',
        '+',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    const urls = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    const sample = fc.sample(urls, { numRuns: 300, seed: 7420 });
    await expectSameAsNode(
      guest,
      `${describeUrl} return ${JSON.stringify(sample)}.map((input) => [attempt(() => new URL(input)), attempt(() => new URL(input, 'http://base.example/a/b'))])`,
    );
  });

  it('sets each part as Node does', async () => {
    const values = [
      'x',
      '',
      'ä ö',
      '?q=1',
      '#h',
      'https:',
      'ftp',
      '8080',
      '99999',
      'host.example:1',
      '/a/../b',
      'no:pe',
      'http://other.example/',
    ];
    await expectSameAsNode(
      guest,
      `${describeUrl} return ${JSON.stringify(values)}.map((value) => ['href','protocol','username','password','host','hostname','port','pathname','search','hash','origin']
        .map((name) => attempt(() => { 'use sloppy'; const url = new URL('https://u:p@a.example:81/p?x=1#h'); url[name] = value; return url; })))`,
    );
  });

  it('keeps searchParams and search in step', async () => {
    await expectSameAsNode(
      guest,
      `const url = new URL('http://a.example/?a=1&b=2'); const { searchParams } = url; searchParams.append('c', 'ü &='); const first = url.href;
       url.search = '?z=9'; const second = [...searchParams]; searchParams.delete('z'); return [first, second, url.href, url.searchParams === searchParams]`,
    );
  });

  it('knows parse and canParse', async () => {
    await expectSameAsNode(
      guest,
      `return [URL.canParse('nope'), URL.canParse('x', 'http://a'), URL.parse('nope'), URL.parse('x', 'http://a').href]`,
    );
  });

  it('says what was wrong with the input', async () => {
    await expect(guest.run(`new URL('not a url')`)).rejects.toThrow('Invalid URL: "not a url"');
  });
});

describe('URLSearchParams', () => {
  it.each(['a=1&b=2&a=3', '?a=1', 'a', 'a=b=c', '%61=%C3%A4+x', '&&=&', 'a=%zz', '', '\ud800=😀', '__proto__=1&constructor=2'])(
    'parses and writes %j as Node does',
    async (query) => {
      await expectSameAsNode(
        guest,
        `const params = new URLSearchParams(${JSON.stringify(query)}); return [[...params], String(params), params.size, params.get('a'), params.getAll('a')]`,
      );
    },
  );

  it('is made from objects, pairs and others of its kind', async () => {
    await expectSameAsNode(
      guest,
      `return [{a: 1, b: null}, [['x', 'y'], ['x', 'z']], new Map([['m', 'n']]), new URLSearchParams('q=1')].map((init) => String(new URLSearchParams(init)))`,
    );
  });

  it('refuses pairs that are no pairs', async () => {
    await expect(guest.run(`new URLSearchParams([['a']])`)).rejects.toMatchObject({ name: 'TypeError' });
  });

  it('changes as Node does', async () => {
    await expectSameAsNode(
      guest,
      `const p = new URLSearchParams('c=1&a=2&c=3&b=4&a=5'); const out = []; const note = () => out.push(String(p));
       p.set('c', 9); note(); p.delete('a', '2'); note(); p.append('é', '✓'); note(); p.sort(); note(); p.set('new', 'x'); note();
       out.push(p.has('a'), p.has('a', '9'), [...p.keys()], [...p.values()]); p.forEach((value, name, all) => out.push([name, value, all === p])); return out`,
    );
  });

  it('iterates while it is changed', async () => {
    await expectSameAsNode(
      guest,
      `const p = new URLSearchParams('a=1&b=2&c=3'); const seen = []; for (const [name] of p) { seen.push(name); if (name === 'a') p.delete('a'); } return seen`,
    );
  });
});
