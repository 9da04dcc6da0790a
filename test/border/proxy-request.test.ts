import { randomBytes, randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readProxyRequest } from '../../src/border/proxy-request.ts';

describe('readProxyRequest', () => {
  it.each([
    ['CONNECT api.example.com:443 HTTP/1.1', 'api.example.com', 443],
    ['CONNECT 127.0.0.1:8080 HTTP/1.0\r\nProxy-Authorization: x', '127.0.0.1', 8080],
    ['CONNECT [::1]:443 HTTP/1.1', '[::1]', 443],
  ])('reads a tunnel: %j', (head, host, port) => {
    expect(readProxyRequest(head)).toEqual({ kind: 'tunnel', host, port });
  });

  it.each([
    [
      'GET http://example.com/a?b=c HTTP/1.1',
      'example.com',
      80,
      'GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n',
    ],
    [
      'POST http://Example.com:81 HTTP/1.1\r\nContent-Length: 2',
      'example.com',
      81,
      'POST / HTTP/1.1\r\nHost: example.com:81\r\nContent-Length: 2\r\nConnection: close\r\n\r\n',
    ],
    // The host that is dialled is the one that is named: none that a header brings in.
    [
      'GET http://example.com/ HTTP/1.1\r\nHost: other\r\nHOST: third\r\nProxy-Connection: keep-alive\r\nConnection: upgrade\r\nUpgrade: h2c\r\nX: y',
      'example.com',
      80,
      'GET / HTTP/1.1\r\nHost: example.com\r\nX: y\r\nConnection: close\r\n\r\n',
    ],
    ['GET http://2130706433/ HTTP/1.1', '127.0.0.1', 80, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'],
    [
      'GET http://example.com/%0d%0aX:y HTTP/1.1',
      'example.com',
      80,
      'GET /%0d%0aX:y HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n',
    ],
  ])('reads a plain request: %j', (head, host, port, sent) => {
    expect(readProxyRequest(head)).toEqual({ kind: 'forward', host, port, head: sent });
  });

  it.each([
    '',
    'GET /relative HTTP/1.1',
    'GET https://example.com/ HTTP/1.1',
    'GET ftp://example.com/ HTTP/1.1',
    'GET file:///etc/passwd HTTP/1.1',
    'GET unix:///var/run/docker.sock HTTP/1.1',
    'GET http://user:word@example.com/ HTTP/1.1',
    'GET http://user@example.com/ HTTP/1.1',
    'GET  http://example.com/ HTTP/1.1',
    'GET http://example.com/ HTTP/2',
    'get http://example.com/ HTTP/1.1',
    'GET http://example.com/\r\n HTTP/1.1',
    'CONNECT example.com HTTP/1.1',
    'CONNECT example.com: HTTP/1.1',
    'CONNECT example.com:123456 HTTP/1.1',
    'CONNECT user@example.com:443 HTTP/1.1',
    'CONNECT http://example.com:443 HTTP/1.1',
    'CONNECT example.com/../x:443 HTTP/1.1',
    'CONNECT a:b:443 HTTP/1.1',
    'GET http://example.com/ HTTP/1.1\r\nno header',
    'GET http://example.com/ HTTP/1.1\r\n folded: line',
    'GET http://example.com/ HTTP/1.1\r\nX: y\nHost: other',
    'GET http://example.com/ HTTP/1.1\r\nX: y\0z',
    'GET http://example.com/ HTTP/1.1\r\n: nameless',
  ])('refuses in words what is no request to a proxy: %j', (head) => {
    expect(readProxyRequest(head)).toEqual({ kind: 'bad', reason: expect.stringMatching(/\.$/) });
  });

  it('never throws, and never lets a head through that has lines of its own', () => {
    const words = [
      'GET',
      'CONNECT',
      'http://',
      'a.b',
      ':',
      '80',
      ' ',
      '\r',
      '\n',
      '\r\n',
      'HTTP/1.1',
      '/',
      '@',
      '[',
      ']',
      '::1',
      '\0',
      '%0a',
      'Host: x',
      '\u00ff',
    ];
    for (let round = 0; round < 20_000; round++) {
      const head = Array.from({ length: randomInt(1, 12) }, () => words[randomInt(words.length)] ?? '').join('');
      const request = readProxyRequest(`${randomInt(2) === 0 ? 'GET http://a.b/ HTTP/1.1\r\n' : ''}${head}`);
      if (request.kind === 'forward') {
        expect(request.head.match(/\r\n\r\n/g)).toHaveLength(1);
        expect(request.head.match(/^Host:/gim)).toHaveLength(1);
        expect(request.head.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
      }
    }
    for (let round = 0; round < 500; round++) readProxyRequest(randomBytes(randomInt(0, 200)).toString('latin1'));
  });
});
