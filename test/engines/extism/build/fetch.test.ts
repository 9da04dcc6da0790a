import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildText, moduleOf, openInSdk, type SdkModule } from './build-fixture.ts';

const source = `export default {
  name: 'client', description: 'Fetches.', permissions: { net: ['127.0.0.1'] },
  handler: async ({ url, text }: { url: string; text?: string }, context: any) => {
    const init = text === undefined ? { headers: { 'x-name': 'é' } } : { method: 'POST', body: text, headers: [['x-a', '1'], ['x-a', '2']] };
    const responses = await Promise.all([context.fetch(url, init), fetch(new URL('/missing', url))]);
    return { status: responses.map((response) => [response.status, response.ok]), body: await responses[0].json(), bytes: (await responses[1].arrayBuffer()).byteLength };
  },
};
`;

let server: Server;
let origin: string;
let module: Uint8Array;
const opened: SdkModule[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/missing') response.statusCode = 404;
      const { method, headers } = request;
      response.end(JSON.stringify({ method, a: headers['x-a'], body: Buffer.concat(chunks).toString() }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  module = moduleOf(await buildText('client.ts', source));
});
afterAll(async () => {
  for (const { plugin } of opened) await plugin.close();
  server.close();
});

async function open(allowedHosts: string[]): Promise<SdkModule> {
  const sdk = await openInSdk(module, { runInWorker: true, allowedHosts });
  opened.push(sdk);
  return sdk;
}

describe('fetch of a built module', () => {
  it('goes over the request function of the host', async () => {
    const sdk = await open(['127.0.0.1']);
    expect(await sdk.tool('client', { url: origin })).toMatchObject({
      status: [
        [200, true],
        [404, false],
      ],
      body: { method: 'GET', body: '' },
    });
    expect(await sdk.tool('client', { url: origin, text: 'Grüße' })).toMatchObject({
      body: { method: 'POST', a: '1, 2', body: 'Grüße' },
    });
  });

  it('reaches what the host allows and nothing else', async () => {
    const sdk = await open(['example.com']);
    await expect(sdk.tool('client', { url: origin })).rejects.toThrow(/not allowed/);
  });
});
