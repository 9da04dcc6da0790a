import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findChromium } from '../../../src/builtins/browser/find-chromium.ts';
import { openLocalProxy } from '../../../src/builtins/browser/local-proxy.ts';
import { browserBounds } from '../../../src/config/quotas/quota.ts';
import { startSmallDaemon } from '../../small-daemon.ts';
import { serveWeb } from '../web-server.ts';

let daemon: Awaited<ReturnType<typeof startSmallDaemon>>;

beforeAll(async () => {
  daemon = await startSmallDaemon(
    {
      'looks.ts': `export default { name: 'looks', permissions: { tools: ['browser'] }, async handler(args: { url: string }, context) {
        await context.tools.call('browser', { steps: [{ action: 'goto', url: args.url }] });
        return await context.tools.call('browser', { steps: [{ action: 'text' }] });
      } }`,
      'orc.ts': `export default { name: 'orc', permissions: { tools: ['browser'] }, async handler(args: { url: string }, context) {
        const first = await context.browser.navigate(args.url);
        await context.browser.type('input', 'x');
        const refused = await context.browser.evaluate('1').catch((error) => error.code);
        return [first, await context.browser.click('button'), (await context.browser.screenshot()).slice(0, 4), refused];
      } }`,
      'without.ts': `export default { name: 'without', handler: (args: { url: string }, context) => context.browser.navigate(args.url) }`,
      'waits.ts': `export default { name: 'waits', permissions: { tools: ['browser'] }, async handler(args: { url: string }, context) {
        await context.tools.call('browser', { steps: [{ action: 'goto', url: args.url }] });
        return await context.confirm('Go on?');
      } }`,
    },
    { builtins: { tools: ['browser'] } },
  );
}, 120_000);
afterAll(() => daemon.close());

function grant(net: string): void {
  const { asking } = daemon.parts.units.find('builtin:browser');
  if (asking === undefined) throw new Error('it is on');
  daemon.parts.grants.create({ asking, permissions: { net: [net] }, scope: { scope: 'always' }, grantedBy: 'local' });
}

/** A server that pages may reach. */
async function serve(listener: RequestListener): Promise<string> {
  const host = await serveWeb(listener);
  grant(host);
  return `http://${host}`;
}

const servePage = (html: string) => serve((_request, response) => void response.setHeader('content-type', 'text/html').end(html));

/** A port of this machine that pages may not reach, and who came all the same. */
async function listen() {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return { host: `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, connections: () => connections };
}

interface Answer {
  readonly url: string;
  readonly title: string;
  readonly refused: readonly string[];
  readonly content: ReadonlyArray<{ type: string; text?: string; data?: string; mimeType?: string }>;
}

const call = (steps: readonly object[], more = {}) => daemon.call('browser', { steps }, more);

async function browse(steps: readonly object[]): Promise<Answer> {
  const answer = await call(steps);
  expect(answer.error).toBeUndefined();
  return answer.output as Answer;
}

function textOf({ content }: Answer): string {
  return content
    .slice(1)
    .map(({ text }) => text ?? '')
    .join('\n');
}

const listHomes = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`hotcell-browser-${process.pid}-`));
const listProcesses = () =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(`hotcell-browser-${process.pid}-`));

describe.skipIf(findChromium('') === undefined)('browser', { timeout: 120_000 }, () => {
  it('opens, types, clicks and answers text, outline and pictures', async () => {
    const url = await serve((request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://x');
      response.setHeader('content-type', 'text/html');
      response.end(
        searchParams.has('q')
          ? `<title>Found</title><p>You asked for ${searchParams.get('q')}</p>`
          : '<title>Search</title><form><input name="q" aria-label="What"><button>Go</button></form>',
      );
    });
    const answer = await browse([
      { action: 'goto', url },
      { action: 'outline' },
      { action: 'type', selector: 'input', text: 'harbours' },
      { action: 'click', selector: 'role=button[name="Go"]' },
      { action: 'text' },
      { action: 'screenshot' },
    ]);
    expect(answer).toMatchObject({ title: 'Found', url: expect.stringContaining('?q=harbours'), refused: [] });
    expect(textOf(answer)).toContain('button "Go"');
    expect(textOf(answer)).toContain('You asked for harbours');
    const picture = answer.content.at(-1);
    expect(picture).toMatchObject({ type: 'image', mimeType: 'image/jpeg' });
    expect(Buffer.from(picture?.data ?? '', 'base64').subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
  });

  it('leaves no process, no file and no cookie behind, and shares them only within one call', async () => {
    const url = await serve((request, response) => {
      response.setHeader('set-cookie', 'seen=1').setHeader('content-type', 'text/html');
      response.end(`<p>cookies: ${request.headers.cookie ?? 'none'}</p>`);
    });
    const steps = [{ action: 'goto', url }, { action: 'text' }];
    expect(textOf(await browse([...steps, ...steps]))).toMatch(/none[\s\S]*seen=1/);
    expect(textOf(await browse(steps))).toContain('none');
    expect(listHomes()).toEqual([]);
    await vi.waitFor(() => expect(listProcesses()).toEqual([]), 20_000);
    const nested = await daemon.call('looks', { url });
    expect(nested.error).toBeUndefined();
    expect(textOf(nested.output as Answer)).toContain('none');
    await vi.waitFor(() => expect([...listHomes(), ...listProcesses()]).toEqual([]), 20_000);
  });

  const usual = ['http://localhost:7345/', 'http://169.254.169.254/latest/'];
  const others = ['http://127.0.0.1:7345/', 'http://[::1]:7345/', 'http://10.0.0.1/', 'https://127.0.0.1:7345/'];
  it.each(process.env.HOTCELL_LONG === undefined ? usual : [...usual, ...others])('does not go to %s', async (url) => {
    const { error } = await call([{ action: 'goto', url }]);
    expect(error?.code).toMatch(/^(?:network-refused|permission-denied)$/);
  });

  it.each([
    'file:///etc/passwd',
    'chrome://version',
    'view-source:http://a/',
    'devtools://devtools/bundled/inspector.html',
    'javascript:1',
    'data:text/html,x',
  ])('knows no address %s', async (url) => {
    await expect(call([{ action: 'goto', url }])).rejects.toMatchObject({ code: 'arguments-invalid' });
  });

  it('reaches nothing by redirects, frames, requests, sockets and beacons that was not granted', async () => {
    const target = await listen();
    const { host } = target;
    const script = `
      const tries = [];
      const note = (promise) => tries.push(Promise.resolve(promise).then(() => 'done', () => 'failed'));
      note(fetch('http://${host}/fetch', { mode: 'no-cors' }).then((r) => r.text()));
      note(new Promise((resolve, reject) => { const s = new WebSocket('ws://${host}/'); s.onopen = resolve; s.onerror = reject; }));
      note(new Promise((resolve) => { const i = new Image(); i.onload = i.onerror = resolve; i.src = 'http://${host}/img'; }));
      note(new Promise((resolve) => { const e = new EventSource('http://${host}/events'); e.onerror = () => { e.close(); resolve(); }; }));
      navigator.sendBeacon('http://${host}/beacon', 'x');
      for (const href of ['file:///etc/passwd', 'chrome://version', 'http://${host}/frame']) {
        const frame = document.createElement('iframe'); frame.src = href; document.body.append(frame);
      }
      const link = document.createElement('link'); link.rel = 'preconnect'; link.href = 'http://${host}'; document.head.append(link);
      Promise.all(tries).then((all) => { document.title = 'over'; const p = document.createElement('p'); p.id = 'over'; p.textContent = all.join(); document.body.append(p); });`;
    const page = await servePage(`<body><script>${script}</script>`);
    const beyond = await listen();
    const away = await serve(
      (_request, response) => void response.writeHead(302, { location: `http://${beyond.host}/away` }).end(),
    );
    const metadata = await serve(
      (_request, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    const answer = await browse([
      { action: 'goto', url: page },
      { action: 'wait', selector: '#over' },
      { action: 'text' },
      { action: 'goto', url: away },
      { action: 'text' },
      { action: 'goto', url: metadata },
    ]);
    expect(textOf(answer)).not.toContain('root:');
    const refused = answer.refused.join();
    for (const place of [host, beyond.host, '169.254.169.254']) expect(refused).toContain(place);
    expect([target.connections(), beyond.connections()]).toEqual([0, 0]);
  });

  it('lets a page open the sockets of a place that is granted', async () => {
    const url = await serve((_request, response) => void response.setHeader('content-type', 'text/html').end('<p>page</p>'));
    const { WebSocketServer } = await import('ws');
    const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => void sockets.close());
    await once(sockets, 'listening');
    sockets.on('connection', (socket) => socket.send('hello'));
    const address = sockets.address();
    const place = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    grant(place);
    const page = await servePage(
      `<body><script>new WebSocket('ws://${place}/').onmessage = ({ data }) => { document.body.innerHTML = '<p id="said">' + data + '</p>'; }</script>`,
    );
    const answer = await browse([
      { action: 'goto', url },
      { action: 'goto', url: page },
      { action: 'wait', selector: '#said' },
      { action: 'text' },
    ]);
    expect(textOf(answer)).toContain('hello');
  });

  it('sends no datagram, and tells a page of no address of this machine', async () => {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    onTestFinished(() => void socket.close());
    let datagrams = 0;
    socket.on('message', () => datagrams++);
    const page = await servePage(`<body><script>
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${socket.address().port}' }, { urls: 'turn:127.0.0.1:${socket.address().port}?transport=tcp', username: 'a', credential: 'b' }] });
      const seen = [];
      peer.createDataChannel('x');
      peer.onicecandidate = ({ candidate }) => {
        if (candidate) return seen.push(candidate.candidate);
        document.body.innerHTML = '<p id="over">candidates: ' + seen.join() + '</p>';
      };
      peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    </script>`);
    const answer = await browse([{ action: 'goto', url: page }, { action: 'wait', selector: '#over' }, { action: 'text' }]);
    expect(textOf(answer).trim()).toBe('candidates:');
    expect(datagrams).toBe(0);
  });

  it('closes windows beyond its pages, and survives what a page does to people', async () => {
    const page =
      await servePage(`<body><button onclick="for (let i = 0; i < 1000; i++) window.open('about:blank#' + i)">Open</button>
      <script>print(); alert('x'); confirm('y'); onbeforeunload = () => 'stay'; for (let i = 0; i < 1000; i++) window.open('about:blank');
      const a = document.createElement('a'); a.href = 'data:application/octet-stream,' + 'x'.repeat(1000); a.download = 'file'; a.click();</script>`);
    const answer = await browse([
      { action: 'goto', url: page },
      { action: 'text' },
      { action: 'click', selector: 'button' },
      { action: 'goto', url: page },
      { action: 'text' },
    ]);
    expect(textOf(answer)).toContain('Open');
    expect(browserBounds.maxPages).toBeLessThan(10);
  });

  it('ends a browser that takes too much memory', async () => {
    const page = await servePage(`<body><script>const held = []; setInterval(() => held.push(new Uint8Array(1 << 26).fill(1)), 1);
      for (let i = 0; i < 8; i++) { const f = document.createElement('iframe'); f.srcdoc = '<script>const h = []; setInterval(() => h.push(new Uint8Array(1 << 26).fill(1)), 1)<\\/script>'; document.body.append(f); }</script>`);
    const { error } = await call([
      { action: 'goto', url: page },
      { action: 'wait', selector: '#never' },
    ]);
    expect(error?.code).toBe('memory-exceeded');
    await vi.waitFor(() => expect([...listHomes(), ...listProcesses()]).toEqual([]), 20_000);
  });

  it('is killed with its call: at its time, when it is cancelled, and when the plugin that waits with it ends', async () => {
    const loops = await servePage('<body><script>for (;;);</script>');
    expect((await call([{ action: 'goto', url: loops }, { action: 'text' }], { timeoutMs: 4000 })).status).toBe('timeout');
    const ending = new AbortController();
    const hangs = await serve(() => ending.abort());
    expect((await call([{ action: 'goto', url: hangs }], { signal: ending.signal })).status).toBe('cancelled');
    const page = await servePage('<p>page</p>');
    const { promise: asked, resolve } = Promise.withResolvers<string>();
    const stop = daemon.parts.events.subscribe({ types: ['approval-request'] }, ({ subject }) => resolve(subject));
    const waiting = daemon.call('waits', { url: page });
    await asked;
    stop();
    expect(listHomes()).toHaveLength(1);
    const running = daemon.parts.executions.list({ tool: 'waits', status: 'running' }, { id: 'local', role: 'admin' }).items[0];
    daemon.parts.caller.cancel(running?.id ?? '', { id: 'local', role: 'admin' });
    await waiting;
    await vi.waitFor(() => expect([...listHomes(), ...listProcesses()]).toEqual([]), 20_000);
  });

  it('is what context.browser of a plugin works with, where its tools are granted', async () => {
    const url = await servePage('<input><button onclick="document.title = document.body.append(\' clicked\')">Go</button>');
    expect((await daemon.call('orc', { url })).output).toEqual(['Go', 'Go clicked', '/9j/', 'not-supported']);
    expect((await daemon.call('without', { url })).error?.code).toBe('permission-denied');
  });

  it('reaches granted places alone where the config says so', async () => {
    const strict = await startSmallDaemon({}, { grantRequested: false, builtins: { tools: ['browser'], net: 'granted' } });
    onTestFinished(() => strict.close());
    const { error } = await strict.call('browser', { steps: [{ action: 'goto', url: 'http://example.com/' }] });
    expect(error?.code).toBe('permission-denied');
  });
});

describe('openLocalProxy', () => {
  it('serves nobody who does not know its credentials', async () => {
    let dialled = 0;
    const proxy = await openLocalProxy(async () => {
      dialled++;
      throw new Error('nobody is here');
    });
    onTestFinished(() => proxy.close());
    for (const credentials of [
      '',
      'Proxy-Authorization: Basic aG90Y2VsbDo=\r\n',
      `Proxy-Authorization: Basic ${Buffer.from(`hotcell:${'x'.repeat(proxy.password.length)}`).toString('base64')}\r\n`,
    ]) {
      const socket = connect(proxy.port, '127.0.0.1');
      socket.write(`CONNECT example.com:443 HTTP/1.1\r\n${credentials}\r\n`);
      const [bytes] = await once(socket, 'data');
      expect(String(bytes)).toMatch(/^HTTP\/1\.1 407 /);
      socket.destroy();
    }
    expect(dialled).toBe(0);
  });
});
