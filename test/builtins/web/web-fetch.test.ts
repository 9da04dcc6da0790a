import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderPage } from '../../../src/builtins/web/render-page.ts';
import { createPageReader } from '../../../src/builtins/web/web-fetch.ts';
import { startSmallDaemon } from '../../small-daemon.ts';
import { serveWeb } from '../web-server.ts';

let daemon: Awaited<ReturnType<typeof startSmallDaemon>>;

beforeAll(async () => {
  daemon = await startSmallDaemon({}, { grantRequested: false, builtins: { tools: ['web_fetch'] } });
});
afterAll(() => daemon.close());

async function fetchFrom(headers: Readonly<Record<string, string>>, body: string | Buffer, path = '/') {
  const host = await serveWeb((_request, response) => response.writeHead(200, headers).end(body));
  grant(host);
  return await daemon.call('web_fetch', { url: `http://${host}${path}` });
}

function grant(net: string): void {
  const { asking } = daemon.parts.units.find('builtin:web_fetch');
  if (asking === undefined) throw new Error('it is on');
  daemon.parts.grants.create({ asking, permissions: { net: [net] }, scope: { scope: 'always' }, grantedBy: 'local' });
}

/** What holds at a second holds at three; `npm run test:long web` shows that. */
const hostileMs = process.env.HOTCELL_LONG === '1' ? 3000 : 1000;
const html = { 'content-type': 'text/html; charset=utf-8' };
const sentence = 'The harbour of the town was built long ago, and ships still come to it, every day, from far away. ';
const article = `<html><head><title>The harbour</title></head><body>
  <nav><a href="/home">Home</a><a href="/ads">Buy now</a></nav>
  <article><h1>The harbour</h1><p>${sentence.repeat(8)}<a href="/more">Read more</a>
  <a href="javascript:alert(1)">Run</a> <img src="data:image/png;base64,AAAA" alt="Inline"></p>
  <h2>History</h2><p>${sentence.repeat(8)}</p><pre><code>let x = 1;</code></pre></article>
  <script>document.title = 'changed'</script><footer>Buy now</footer></body></html>`;

describe('web_fetch', () => {
  it('answers the article of a page as Markdown, with full addresses', async () => {
    const { output } = await fetchFrom(html, article, '/news/1');
    expect(output).toMatchObject({ title: 'The harbour', truncated: false, url: expect.stringMatching(/\/news\/1$/) });
    const { content } = output as { content: string };
    expect(content).toContain('## History');
    expect(content).toMatch(/\[Read more\]\(http:\/\/127\.0\.0\.1:\d+\/more\)/);
    expect(content).toContain('let x = 1;');
    for (const noise of ['Buy now', 'javascript:', 'data:', 'document.title']) expect(content).not.toContain(noise);
  });

  it('answers a page without an article whole, and text as it is', async () => {
    expect((await fetchFrom(html, '<p>Short <b>page</b></p>')).output).toMatchObject({ content: 'Short **page**' });
    const json = { 'content-type': 'application/json' };
    expect((await fetchFrom(json, '{"a":1}')).output).toMatchObject({ content: '{"a":1}', title: '' });
  });

  it('reads the characters that a page names', async () => {
    const latin = Buffer.from('<meta charset="iso-8859-1"><p>Grüße</p>', 'latin1');
    expect((await fetchFrom({ 'content-type': 'text/html' }, latin)).output).toMatchObject({ content: 'Grüße' });
    const unknown = await fetchFrom({ 'content-type': 'text/plain; charset=klingon' }, 'plain');
    expect(unknown.output).toMatchObject({ content: 'plain' });
  });

  it('refuses what is no text, and says when there is no page', async () => {
    const picture = await fetchFrom({ 'content-type': 'image/png' }, 'x');
    expect(picture.error?.code).toBe('page-unreadable');
    const host = await serveWeb((_request, response) => response.writeHead(404).end('gone'));
    grant(host);
    const missing = await daemon.call('web_fetch', { url: `http://${host}/` });
    expect(missing.error).toMatchObject({ code: 'network-failed', message: expect.stringContaining('404') });
  });

  it('checks every redirect like the first address', async () => {
    const host = await serveWeb((_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
    grant(host);
    expect((await daemon.call('web_fetch', { url: `http://${host}/` })).error?.code).toBe('network-refused');
  });

  it('cuts a page that has no end', async () => {
    const closed = Promise.withResolvers<void>();
    const host = await serveWeb((_request, response) => {
      const write = () => {
        while (response.write('<p>more and more </p>'.repeat(4000)));
        response.once('drain', write);
      };
      response.once('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/plain' });
      write();
    });
    grant(host);
    const { output } = await daemon.call('web_fetch', { url: `http://${host}/` });
    expect(output).toMatchObject({ truncated: true });
    expect((output as { content: string }).content.length).toBe(100_000);
    await closed.promise;
  });
});

describe('createPageReader', () => {
  const url = 'https://example.com/';
  const { signal } = new AbortController();

  it.each([
    ['nested without end', '<div>'.repeat(400_000)],
    ['nested lists and tables', '<table><tr><td><ul><li>'.repeat(80_000)],
    ['one huge attribute', `<p title="${'x'.repeat(2_000_000)}">text</p>`],
    ['very many attributes', `<p ${Array.from({ length: 200_000 }, (_each, at) => `a${at}=1`).join(' ')}>text</p>`],
    ['unclosed formatting', `${'<b><i><a href=x>'.repeat(20_000)}text`],
    ['an unfinished comment', `<!--${'-'.repeat(2_000_000)}`],
    ['an unfinished tag', `<${'a'.repeat(2_000_000)}`],
    ['entities', '&amp;&#x0;&#xD800;&bogus'.repeat(80_000)],
  ])('ends with %s, and another page is read meanwhile', async (_what, hostile) => {
    const reader = createPageReader({ maxMs: hostileMs });
    const ended = reader({ html: hostile, url }, signal).then(
      ({ content }) => typeof content,
      (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
    );
    const other = createPageReader({ maxMs: 60_000 })({ html: '<p>fine</p>', url }, signal);
    expect((await other).content).toBe('fine');
    expect(['string', 'page-unreadable']).toContain(await ended);
  });

  it('ends with its call', async () => {
    const cancel = new AbortController();
    const reading = createPageReader({ maxMs: 60_000 })({ html: '<div>'.repeat(400_000), url }, cancel.signal);
    cancel.abort(new Error('over'));
    await expect(reading).rejects.toThrow('over');
  });
});

describe('renderPage', () => {
  it('takes the base that a page names, and no link that runs', () => {
    const page = '<base href="https://other.example/a/"><a href="b">b</a> <a href="vbscript:x">c</a> <a href="//[">d</a>';
    expect(renderPage(page, 'https://example.com/').content).toBe('[b](https://other.example/a/b) c d');
  });

  it('reads nothing as a page that is none', () => {
    for (const page of ['', ' ', 'just text', '<', '<html>', '\u0000'])
      expect(typeof renderPage(page, 'https://a.example/').content).toBe('string');
  });
});
