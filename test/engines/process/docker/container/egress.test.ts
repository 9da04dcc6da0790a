import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CommandRequest } from '../../../../../src/border/container-command.ts';
import { createFetch } from '../../../../../src/capabilities/fetch.ts';
import { defaultSettings } from '../../../../../src/config/schema.ts';
import { createUser } from '../../../../capabilities/capability-user.ts';
import { describeDocker, openRunnerHouse, type RunnerHouse, testImages, text } from '../docker-machine.ts';

const get = `
import sys, urllib.request, urllib.error
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode().strip())
except Exception as error:
    print('failed:', error)
`;
const connect = `
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3).close()
    print('connected')
except Exception as error:
    print('failed:', error)
`;
const tunnel = `
import socket, sys, threading
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(('CONNECT %s HTTP/1.1\\r\\n\\r\\n' % sys.argv[1]).encode())
head = b''
while b'\\r\\n\\r\\n' not in head: head += s.recv(1)
print(head.split(b'\\r\\n')[0].decode())
if b' 200 ' not in head.split(b'\\r\\n')[0]: sys.exit(0)
size = int(sys.argv[2])
def send():
    s.sendall(b'x' * size)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
got = 0
while True:
    part = s.recv(65536)
    if not part: break
    got += len(part)
print(got)
`;

describeDocker('egress of a container', () => {
  let house: RunnerHouse;
  let web: Server;
  let echo: Server;
  const port = (server: Server) => (server.address() as AddressInfo).port;
  const fetch = createFetch({
    network: defaultSettings.network,
    resolve: async (host) =>
      host === 'rebound.example.com' ? ['169.254.169.254'] : host === 'own.example.com' ? ['127.0.0.1'] : [],
  });
  const dialFor = (net: string[]): NonNullable<CommandRequest['dial']> => {
    const user = createUser({ net });
    return (to, signal) => fetch.dial(to, user, signal);
  };
  const python = async (script: string, args: string[], net?: string[]) => {
    const dial = net === undefined ? {} : { dial: dialFor(net) };
    const result = await house.run('python3', ['-c', script, ...args], { image: testImages.python, ...dial });
    return (text(result.stdout) + text(result.stderr)).trim();
  };

  beforeAll(async () => {
    house = openRunnerHouse();
    web = createHttpServer((request, response) => response.end(`${request.method} ${request.url} ${request.headers.host}`));
    echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
    for (const server of [web, echo]) await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    await house.close();
    await fetch.close?.();
    web.close();
    echo.close();
  });

  it('reaches a granted place over the proxy, and no other', async () => {
    const url = `http://127.0.0.1:${port(web)}/path?q=1`;
    expect(await python(get, [url], [`127.0.0.1:${port(web)}`])).toBe(`GET /path?q=1 127.0.0.1:${port(web)}`);
    expect(await python(get, [url], ['api.example.com'])).toMatch(/^403 Tool ".*" may not reach 127\.0\.0\.1/);
    expect(await python(get, [url])).toMatch(/^failed: .*refused/);
  });

  it('has no network beside the proxy, whatever is granted', async () => {
    const places = [
      ['127.0.0.1', String(port(web))],
      ['172.17.0.1', String(port(web))],
      ['169.254.169.254', '80'],
      ['192.0.2.1', '443'],
    ] as const;
    for (const [host, at] of places) {
      expect(await python(connect, [host, at], [`${host}:${at}`])).toMatch(/^failed: /);
    }
    // The twin: the same probe succeeds where there is something to reach.
    expect(await python(connect, ['127.0.0.1', '3128'], ['api.example.com'])).toBe('connected');
    expect(await python(connect, ['127.0.0.1', '3128'])).toMatch(/^failed: /);
  });

  it('refuses metadata and private addresses by the one check, also behind a granted name', async () => {
    expect(await python(get, ['http://169.254.169.254/latest/meta-data/'], ['api.example.com'])).toMatch(/^403 /);
    expect(await python(get, ['http://rebound.example.com/'], ['rebound.example.com'])).toMatch(/^403 .*may not reach/);
    expect(await python(get, [`http://own.example.com:${port(web)}/`], [`own.example.com:${port(web)}`])).toMatch(/^403 /);
    const both = [`own.example.com:${port(web)}`, `127.0.0.1:${port(web)}`];
    expect(await python(get, [`http://own.example.com:${port(web)}/`], both)).toBe(`GET / own.example.com:${port(web)}`);
  });

  it('tunnels bytes both ways at the pace of the slower side, and passes on the end', async () => {
    const place = `127.0.0.1:${port(echo)}`;
    expect(await python(tunnel, [place, '5000000'], [place])).toBe('HTTP/1.1 200 Connection established\n5000000');
    expect(await python(tunnel, [place, '10'], ['api.example.com'])).toBe('HTTP/1.1 403 Forbidden');
  });

  it('serves many connections at once, and refuses what is no request', async () => {
    const many = `
import concurrent.futures, sys, urllib.request
def get(i): return urllib.request.urlopen(sys.argv[1] + str(i), timeout=10).status
with concurrent.futures.ThreadPoolExecutor(30) as pool: print(sum(1 for s in pool.map(get, range(200)) if s == 200))
`;
    expect(await python(many, [`http://127.0.0.1:${port(web)}/`], [`127.0.0.1:${port(web)}`])).toBe('200');
    const rubbish = `
import socket
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'\\x05\\x01\\x00 rubbish\\r\\n\\r\\n')
print(s.recv(1000).split(b'\\r\\n')[0].decode())
`;
    expect(await python(rubbish, [], ['api.example.com'])).toBe('HTTP/1.1 400 Bad Request');
  });

  it('ends every connection with the command', async () => {
    let isOpen = false;
    const ended = Promise.withResolvers<void>();
    const slow = createServer((socket) => {
      isOpen = true;
      socket.on('error', () => undefined);
      socket.once('close', () => ended.resolve());
    });
    await once(slow.listen(0, '127.0.0.1'), 'listening');
    const place = `127.0.0.1:${port(slow)}`;
    const hold = `
import socket, sys
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(('CONNECT %s HTTP/1.1\\r\\n\\r\\n' % sys.argv[1]).encode())
print(s.recv(12).decode())
`;
    expect(await python(hold, [place], [place])).toBe('HTTP/1.1 200');
    expect(isOpen).toBe(true);
    await ended.promise;
    slow.close();
  });
});
