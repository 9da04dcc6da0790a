import { createServer as createHttp2 } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveLimits } from '../../../../src/config/limits.ts';
import { selfSigned } from '../../../capabilities/network/self-signed.ts';
import { createDenoRig, handlerOf } from './deno-rig.ts';
import { dialling, type Places, startPlaces } from './places.ts';

const rig = createDenoRig();
let places: Places;
beforeAll(async () => {
  places = await startPlaces();
});
afterAll(async () => {
  await rig.close();
  await places.close();
});

/** How plugins open connections; each sends `hello` to `args` and returns what comes back. */
const clients: Readonly<Record<string, string>> = {
  'Deno.connect': `const conn = await Deno.connect({ hostname: args.host, port: args.port });
    await conn.write(new TextEncoder().encode('hello'));
    const into = new Uint8Array(3); let text = '';
    while (text.length < 5) text += new TextDecoder().decode(into.subarray(0, await conn.read(into)));
    conn.close(); return text`,
  'streams of Deno.connect': `const conn = await Deno.connect({ hostname: args.host, port: args.port });
    const writer = conn.writable.getWriter(); await writer.write(new TextEncoder().encode('hello'));
    const { value } = await conn.readable.getReader().read(); return new TextDecoder().decode(value)`,
  'node:net': `const { connect } = await import('node:net');
    return new Promise((resolve, reject) => {
      const socket = connect(args.port, args.host, () => socket.write('hello'));
      socket.on('data', (chunk) => { resolve(String(chunk)); socket.destroy() }).on('error', reject);
    })`,
  'a node:net Socket': `const { Socket } = require('node:net'); const socket = new Socket();
    socket.connect({ host: args.host, port: args.port }); socket.setEncoding('utf8'); socket.end('hello');
    for await (const text of socket) return text`,
};

const call = (body: string, net: readonly string[], args: object) => rig.run(handlerOf(body), { args, ...dialling(net) });
const secureArgs = () => ({ host: 'secure.test', port: places.secure, ca: selfSigned.cert });
const secureNet = (port: number) => [`secure.test:${port}`, `127.0.0.1:${port}`];

describe('connections of a Deno process', () => {
  it.each(Object.entries(clients))('reach a granted place by %s', async (_name, body) => {
    const place = { host: '127.0.0.1', port: places.shout };
    expect(await call(body, [`127.0.0.1:${places.shout}`], place)).toMatchObject({ status: 'success', output: 'HELLO' });
  });

  it.each(Object.entries(clients))('reach nothing else by %s', async (_name, body) => {
    const before = places.taken();
    const place = { host: '127.0.0.1', port: places.shout };
    expect(await call(body, [`127.0.0.1:${places.plain}`], place)).toMatchObject({
      status: 'error',
      error: {
        code: 'permission-denied',
        message: expect.stringContaining(`hotcell grant weather net=127.0.0.1:${places.shout}`),
      },
    });
    expect(places.taken()).toBe(before);
  });

  it.each([
    ['this machine', 'loopback.lan.test'],
    ['the metadata service', 'metadata.lan.test'],
    ['a private network, such as that of a gateway', 'gateway.lan.test'],
  ])('never reach %s by a name that leads there', async (_what, host) => {
    const before = places.taken();
    const outcome = await call(clients['node:net'] ?? '', ['*.lan.test'], { host, port: places.shout });
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'network-refused' } });
    expect(places.taken()).toBe(before);
  });

  it.each(['127.0.0.1', '169.254.169.254', '172.17.0.1', '::1', '0.0.0.0', '2130706433'])(
    'never reach %s, which nobody granted',
    async (host) => {
      const outcome = await call(clients['Deno.connect'] ?? '', ['*.lan.test'], { host, port: places.shout });
      expect(outcome).toMatchObject({ status: 'error', error: { code: 'permission-denied', name: 'NotCapable' } });
    },
  );

  it('carry what is larger than their windows, both ways', async () => {
    const body = `const http = require('node:http');
      const ask = (method, path, bytes) => new Promise((resolve, reject) => {
        const request = http.request({ host: '127.0.0.1', port: args.port, method, path }, async (response) => {
          let text = ''; for await (const chunk of response) { text += chunk; await new Promise((done) => setTimeout(done, 0)) }
          resolve(text);
        });
        request.on('error', reject); request.end(bytes);
      });
      return [(await ask('GET', '/big')).length, await ask('PUT', '/', new Uint8Array(2_000_000))]`;
    const outcome = await call(body, [`127.0.0.1:${places.plain}`], { port: places.plain });
    expect(outcome).toMatchObject({ status: 'success', output: [3_000_000, 'PUT 2000000'] });
    expect(outcome).toMatchObject({ usage: { hostCalls: 1 }, recording: { complete: false } });
  });

  it('are used again by agents that keep them', async () => {
    const body = `const http = require('node:http'); const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      const ask = () => new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port: args.port, agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      }).on('error', reject));
      return [await ask(), await ask(), await ask()]`;
    const outcome = await call(body, [`127.0.0.1:${places.plain}`], { port: places.plain });
    expect(outcome).toMatchObject({ output: [200, 200, 200], usage: { hostCalls: 1 } });
  });

  it('carry HTTP/2', async () => {
    const body = `const session = require('node:http2').connect('http://127.0.0.1:' + args.port);
      return new Promise((resolve, reject) => { session.on('error', reject);
        const stream = session.request({ ':path': '/two' }); let text = '';
        stream.setEncoding('utf8').on('data', (part) => { text += part }).on('end', () => { session.close(); resolve(text) }).on('error', () => {}) })`;
    const server = createHttp2((request, response) => response.end(`second ${request.url}`));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await call(body, [`127.0.0.1:${port}`], { port })).toMatchObject({ status: 'success', output: 'second /two' });
    expect(await call(body, [], { port })).toMatchObject({ status: 'error', error: { code: 'permission-denied' } });
    server.close();
  });

  it('tell that nobody answers', async () => {
    const body = `const net = require('node:net'); return new Promise((resolve) => net.connect(1, '127.0.0.1').on('error', (error) => resolve([error.code, error.message])))`;
    const outcome = await call(body, ['127.0.0.1:1'], {});
    expect(outcome).toMatchObject({ output: ['network-failed', expect.stringContaining('does not answer')] });
  });

  it('are not there while the plugin loads', async () => {
    const code = "await Deno.connect({ port: 1 }); export default { name: 'a', handler() {} };";
    expect(await rig.engine.load({ key: code, label: 'a.ts', code, limits: resolveLimits() })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('The network is not available while the plugin loads') },
    });
  });

  it('end with their call, also in a kept process', async () => {
    const plugin = handlerOf(`const net = require('node:net');
      if (args.again) return new Promise((resolve) => setTimeout(() => resolve([kept.destroyed, globalThis.wasClosed]), 50));
      globalThis.kept = net.connect(args.port, '127.0.0.1').on('close', () => { globalThis.wasClosed = true });
      await new Promise((resolve) => kept.once('connect', resolve)); return 'open'`);
    const options = { isolation: 'session', cellKey: 'net', ...dialling([`127.0.0.1:${places.shout}`]) } as const;
    expect(await rig.run(plugin, { ...options, args: { port: places.shout } })).toMatchObject({ output: 'open' });
    expect(await rig.run(plugin, { ...options, args: { again: true } })).toMatchObject({ output: [true, true] });
  });

  it('end when the grant is revoked, while they are open', async () => {
    const { dial, revoke } = dialling([`127.0.0.1:${places.shout}`]);
    const body = `const net = require('node:net');
      return new Promise((resolve, reject) => {
        const socket = net.connect(args.port, '127.0.0.1', () => context.kv.get('a'));
        socket.on('error', (error) => resolve([error.code, error.message]));
      })`;
    const answer = async () => {
      revoke();
      return { ok: true, payload: 'null' } as const;
    };
    expect(await rig.run(handlerOf(body), { args: { port: places.shout }, dial, answer })).toMatchObject({
      output: ['permission-denied', expect.stringContaining('any longer')],
    });
  });

  it('are bounded in number', async () => {
    const body = `const net = require('node:net'); const open = (n) => new Promise((resolve) => {
        const socket = net.connect(args.port, '127.0.0.1', () => resolve('open')).on('error', (error) => resolve(error.code));
      });
      return Promise.all([1, 2, 3].map(open))`;
    const grant = dialling([`127.0.0.1:${places.shout}`]);
    const tried = { args: { port: places.shout }, ...grant };
    expect(await rig.run(handlerOf(body), { ...tried, limits: { pendingHostCalls: 2 } })).toMatchObject({
      output: ['open', 'open', 'pending-host-calls-exceeded'],
    });
    expect(await rig.run(handlerOf(body), { ...tried, limits: { hostCalls: 1 } })).toMatchObject({
      output: ['open', 'host-calls-exceeded', 'host-calls-exceeded'],
    });
  });
});

const tlsClients: Readonly<Record<string, string>> = {
  'node:https': `return new Promise((resolve, reject) => require('node:https').get({ host: args.host, port: args.port, path: '/a', ca: args.ca }, async (response) => {
      let text = ''; for await (const chunk of response) text += chunk; resolve(text);
    }).on('error', reject))`,
  'node:tls': `return new Promise((resolve, reject) => {
      const socket = require('node:tls').connect({ host: args.host, port: args.port, ca: args.ca }, () => socket.write('GET /a HTTP/1.0\\r\\n\\r\\n'));
      let text = ''; socket.on('data', (chunk) => { text += chunk }).on('end', () => resolve(text.split('\\r\\n\\r\\n')[1])).on('error', reject);
    })`,
  'Deno.connectTls': `const conn = await Deno.connectTls({ hostname: args.host, port: args.port, caCerts: args.ca ? [args.ca] : undefined });
      await conn.write(new TextEncoder().encode('GET /a HTTP/1.0\\r\\n\\r\\n'));
      return (await new Response(conn.readable).text()).split('\\r\\n\\r\\n')[1]`,
};

describe('TLS in a Deno process', () => {
  it.each(Object.entries(tlsClients))('is spoken by %s, over a connection of the daemon', async (_name, body) => {
    expect(await call(body, secureNet(places.secure), secureArgs())).toMatchObject({ status: 'success', output: 'secure /a' });
  });

  it.each(Object.entries(tlsClients))('refuses a certificate that nobody vouches for, by %s', async (_name, body) => {
    expect(await call(body, secureNet(places.secure), { ...secureArgs(), ca: undefined })).toMatchObject({
      status: 'error',
      error: { message: expect.stringMatching(/certificate/) },
    });
  });

  it.each(Object.entries(tlsClients))('reaches no place that is not granted, by %s', async (_name, body) => {
    const before = places.taken();
    expect(await call(body, [], secureArgs())).toMatchObject({ error: { code: 'permission-denied' } });
    expect(places.taken()).toBe(before);
  });

  it.each([
    [
      'node:tls',
      `const plain = require('node:net').connect(args.port, args.host);
      await new Promise((resolve, reject) => { plain.once('data', resolve).once('error', reject); plain.write('*') });
      const socket = require('node:tls').connect({ socket: plain, servername: args.host, ca: args.ca });
      return new Promise((resolve, reject) => { socket.on('data', (chunk) => { resolve(String(chunk)); socket.destroy() }).on('error', reject); socket.write('later') })`,
    ],
    [
      'Deno.startTls',
      `const plain = await Deno.connect({ hostname: args.host, port: args.port });
      await plain.write(new TextEncoder().encode('*')); const into = new Uint8Array(10); await plain.read(into);
      const conn = await Deno.startTls(plain, { hostname: args.host, caCerts: [args.ca] });
      await conn.write(new TextEncoder().encode('later'));
      const count = await conn.read(into); conn.close(); return new TextDecoder().decode(into.subarray(0, count))`,
    ],
  ])('can begin in the middle of a connection, by %s', async (_name, body) => {
    const outcome = await call(body, secureNet(places.shout), { ...secureArgs(), port: places.shout });
    expect(outcome).toMatchObject({ status: 'success', output: 'LATER' });
  });

  it('is never left out: a socket of TLS without a stream opens nothing', async () => {
    const body = `const tls = require('node:tls'); const socket = new tls.TLSSocket();
      return new Promise((resolve) => { socket.on('error', (error) => resolve(error.message)); try { socket.connect({ host: args.host, port: args.port }) } catch (error) { resolve(error.message) } })`;
    const before = places.taken();
    expect(await call(body, secureNet(places.secure), secureArgs())).toMatchObject({
      output: expect.stringMatching(/net access|EPERM/),
    });
    expect(places.taken()).toBe(before);
  });
});

describe('WebSocket in a Deno process', () => {
  const talk = `const socket = new WebSocket(args.url, { protocols: ['one', 'two'], headers: { 'x-who': 'guest' } });
    socket.binaryType = 'arraybuffer'; const heard = [];
    return new Promise((resolve, reject) => {
      socket.onerror = (event) => reject(event.error ?? new Error(event.message));
      socket.onmessage = ({ data }) => {
        heard.push(typeof data === 'string' ? data.slice(0, 20) + data.length : [...new Uint8Array(data)]);
        if (heard.length === 1) { socket.send('x'.repeat(100_000)); socket.send(new Uint8Array([1, 2, 255])) }
        if (heard.length === 3) socket.send('bye');
      };
      socket.onclose = ({ code, reason, wasClean }) => resolve({ heard, code, reason, wasClean, protocol: socket.protocol, state: socket.readyState });
    })`;

  it('exchanges text and bytes with a granted place', async () => {
    const outcome = await call(talk, [`127.0.0.1:${places.plain}`], { url: `ws://127.0.0.1:${places.plain}/` });
    expect(outcome).toMatchObject({
      status: 'success',
      output: {
        heard: ['hello guest11', `${'x'.repeat(20)}100000`, [1, 2, 255]],
        code: 4001,
        reason: 'as asked',
        wasClean: true,
        protocol: 'one',
        state: 3,
      },
    });
  });

  it('reaches no place that is not granted', async () => {
    const before = places.taken();
    const outcome = await call(talk, [], { url: `ws://127.0.0.1:${places.plain}/` });
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'permission-denied' } });
    expect(places.taken()).toBe(before);
  });

  it('fails where no WebSocket is', async () => {
    const outcome = await call(talk, secureNet(places.secure), { url: `wss://secure.test:${places.secure}/` });
    expect(outcome).toMatchObject({ status: 'error', error: { message: expect.stringContaining('certificate') } });
  });
});
