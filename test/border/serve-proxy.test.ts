import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { serveProxy } from '../../src/border/serve-proxy.ts';

it('gives up a request whose head does not end, and dials nobody for it', async () => {
  const [guest, client] = duplexPair();
  const dialled: unknown[] = [];
  const dial = (to: unknown) => {
    dialled.push(to);
    return Promise.reject(new Error('nobody is dialled'));
  };
  const served = serveProxy(client, dial, new AbortController().signal);
  const closed = once(client, 'close');
  guest.write(`GET http://example.com/ HTTP/1.1\r\nX: ${'x'.repeat(33_000)}`);
  await closed;
  await served;
  expect([client.destroyed, dialled]).toEqual([true, []]);
});
