import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../../capabilities/network/self-signed.ts';
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
});
