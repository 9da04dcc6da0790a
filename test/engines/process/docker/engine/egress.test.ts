import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BorderHost } from '../../../../../src/border/border.ts';
import { createFetch } from '../../../../../src/capabilities/fetch.ts';
import { defaultSettings } from '../../../../../src/config/schema.ts';
import { createUser } from '../../../../capabilities/capability-user.ts';
import { handlerOf } from '../../deno/deno-rig.ts';
import { describeDocker, eventually } from '../docker-machine.ts';
import { createDockerRig, type DockerRig } from './engine-rig.ts';

/** Asks with Node's own client, which finds the proxy in its environment. */
const get = `const http = await import('node:http');
  const ask = (url) => new Promise((done) => {
    const asking = http.get(url, (answer) => {
      let text = '';
      answer.on('data', (part) => { text += part });
      answer.on('end', () => done(answer.statusCode + ' ' + text.trim()));
    });
    asking.on('error', (error) => done('failed: ' + error.code));
  });`;
const connect = `const net = await import('node:net');
  const reach = (host, port) => new Promise((done) => {
    const socket = net.connect({ host, port, timeout: 2000 }, () => { socket.destroy(); done('connected') });
    socket.on('error', (error) => done('failed: ' + error.code));
    socket.on('timeout', () => { socket.destroy(); done('timeout') });
  });`;

describeDocker('network clients of a plugin in a container', () => {
  let rig: DockerRig;
  let web: Server;
  const fetch = createFetch({
    network: defaultSettings.network,
    resolve: async (host) => (host === 'own.example.com' ? ['127.0.0.1'] : ['169.254.169.254']),
  });
  const dialFor = (net: string[]): NonNullable<BorderHost['dial']> => {
    const user = createUser({ net });
    return (to, signal) => fetch.dial(to, user, signal);
  };
  const portOf = (server: Server) => (server.address() as AddressInfo).port;

  beforeAll(async () => {
    rig = createDockerRig();
    web = createServer((request, response) => response.end(`hello ${request.headers.host}`));
    await once(web.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    await rig.close();
    await fetch.close?.();
    web.close();
  });

  it('reach through the proxy what is granted, and are told what is not', async () => {
    const port = portOf(web);
    const body = `${get} return [await ask('http://127.0.0.1:${port}/'), await ask('http://169.254.169.254/latest'), await ask('http://rebound.example.com/')]`;
    const outcome = await rig.run(handlerOf(body), { dial: dialFor([`127.0.0.1:${port}`, 'rebound.example.com']) });
    expect(outcome).toMatchObject({
      output: [`200 hello 127.0.0.1:${port}`, expect.stringMatching(/^403 /), expect.stringMatching(/^403 /)],
    });
  });

  it('reach nothing without a grant, and nothing at all without the proxy', async () => {
    const port = portOf(web);
    const body = `${get} ${connect} return [await ask('http://127.0.0.1:${port}/'), await reach('127.0.0.1', ${port}), await reach('169.254.169.254', 80), await reach('172.17.0.1', 80), await reach('1.1.1.1', 443)]`;
    const outcome = await rig.run(handlerOf(body), { dial: dialFor([]) });
    expect(outcome.status === 'success' && outcome.output).toEqual([
      expect.stringMatching(/^403 /),
      'failed: ECONNREFUSED',
      expect.stringMatching(/failed: ENETUNREACH|timeout/),
      expect.stringMatching(/failed: ENETUNREACH|timeout/),
      expect.stringMatching(/failed: ENETUNREACH|timeout/),
    ]);
  });

  it('have the network of the call that runs, and none between calls', async () => {
    const port = portOf(web);
    const plugin =
      handlerOf(`${get} if (args.later) setTimeout(async () => { globalThis.late = await ask('http://127.0.0.1:${port}/') }, 0);
      return args.later ? 'started' : [globalThis.late, await ask('http://127.0.0.1:${port}/')]`);
    const call = (args: object, net: string[]) =>
      rig.run(plugin, { args, isolation: 'plugin', cellKey: 'net', dial: dialFor(net) });
    await call({ later: true }, [`127.0.0.1:${port}`]);
    const outputOf = async (net: string[]) => {
      const outcome = await call({}, net);
      return outcome.status === 'success' && Array.isArray(outcome.output) ? outcome.output : [];
    };
    expect((await outputOf([]))[1]).toMatch(/^403 /);
    // What was left for later has failed by some call.
    const [late, now] = await eventually(
      () => outputOf([`127.0.0.1:${port}`]),
      ([text]) => typeof text === 'string',
    );
    expect(late).toEqual(expect.not.stringContaining('hello'));
    expect(now).toBe(`200 hello 127.0.0.1:${port}`);
  });

  it('lose their open connections when the call ends', async () => {
    const sockets = new Set<unknown>();
    const server = createNetServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const body = `const net = await import('node:net'); const { hostname, port } = new URL(process.env.http_proxy);
      const socket = net.connect(Number(port), hostname); socket.write('CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\n\\r\\n');
      return new Promise((done) => socket.once('data', (text) => done(String(text).split('\\r\\n')[0])))`;
    const outcome = await rig.run(handlerOf(body), {
      isolation: 'plugin',
      cellKey: 'open',
      dial: dialFor([`127.0.0.1:${port}`]),
    });
    expect(outcome).toMatchObject({ output: 'HTTP/1.1 200 Connection established' });
    const left = await eventually(
      async () => sockets.size,
      (count) => count === 0,
    );
    expect(left).toBe(0);
    server.close();
  });
});
