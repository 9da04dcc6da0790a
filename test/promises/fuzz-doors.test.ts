import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Door, openDoor } from '../http/door-parts.ts';
import { anyJson, anyText, fuzzParameters, fuzzTimeoutMs, nearlyRight, seeded, telling } from './escape/fuzz.ts';
import { createRawClient, type RawRequest } from './escape/raw-request.ts';

const mostGrowthMiB = 400;

let door: Door;
beforeAll(async () => {
  door = await openDoor();
});
afterAll(() => door.close());

const part = fc
  .oneof(fc.constantFrom('echo', 'echo@1.0.0', 'echo@^1', 'echo@', 'exe_1'), telling, anyText)
  .map(encodeURIComponentLoosely);

function encodeURIComponentLoosely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/**
 * Routes of the table with random names in them, mostly with the method of the route, and paths of no table. Machine checks
 * are slow: nothing is sent to them.
 */
function anyRoute(): fc.Arbitrary<{ method: string; path: string }> {
  const known = door.operations.map(({ http }) => http).filter(({ path }) => !path.includes('doctor'));
  const names = fc.array(part, { minLength: 3, maxLength: 3 });
  const filled = fc.tuple(fc.constantFrom(...known), names).map(([{ method, path }, parts]) => {
    let at = 0;
    return { method, path: path.replace(/:\w+/g, () => parts[at++] ?? 'x') };
  });
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND');
  const path = fc.oneof(
    fc.stringMatching(/^\/[\x21-\x22\x24-\x7e]{0,30}$/).filter((text) => !text.includes('doctor')),
    filled.map((route) => route.path),
  );
  const query = fc.array(
    fc
      .tuple(fc.constantFrom('limit', 'q', 'cursor', 'mode', 'status', 'tool', 'x', '__proto__'), part)
      .map((pair) => pair.join('=')),
    { maxLength: 1 },
  );
  return fc
    .tuple(fc.oneof({ weight: 4, arbitrary: filled }, { weight: 1, arbitrary: fc.record({ method, path }) }), query)
    .map(([route, [asked]]) => ({ ...route, path: asked === undefined ? route.path : `${route.path}?${asked}` }));
}

const body = fc.oneof(
  nearlyRight(
    [
      'arguments',
      'session',
      'timeoutMs',
      'idempotencyKey',
      'name',
      'role',
      'enabled',
      'generation',
      'text',
      'plugin',
      'permissions',
      'id',
      'ref',
      'expectedHash',
    ],
    {
      arguments: fc.dictionary(anyText, anyJson, { maxKeys: 3 }),
      session: anyText,
      name: anyText,
    },
  ).map((value) => JSON.stringify(value)),
  anyJson.map((value) => JSON.stringify(value)),
  anyText,
);
const header = fc.stringMatching(/^[\x20-\x7e]{0,30}$/);

function anyRequest(): fc.Arbitrary<RawRequest> {
  const headers = fc.record(
    {
      'content-type': fc.oneof(
        { weight: 5, arbitrary: fc.constant('application/json') },
        fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''),
        header,
      ),
      'if-match': header,
      accept: header,
      'x-hotcell-cancel-on-disconnect': header,
      'last-event-id': header,
      'content-encoding': fc.constantFrom('gzip', 'br', 'x'),
      range: header,
      authorization: fc.oneof({ weight: 9, arbitrary: fc.constant(`Bearer ${door.token}`) }, header),
    },
    { requiredKeys: ['content-type', 'authorization'] },
  );
  // Pages of other sites are refused before anything else: few of them are enough.
  const sent = fc.tuple(headers, fc.nat(19)).map(([given, chance]) => (chance === 0 ? { ...given, origin: 'null' } : given));
  return fc.tuple(anyRoute(), sent, body).map(([route, carried, content]) => ({ ...route, headers: carried, body: content }));
}

function residentMiB(): number {
  return process.memoryUsage().rss / 2 ** 20;
}

describe('the HTTP door', () => {
  it(seeded('answers any request with a result or a problem'), { timeout: fuzzTimeoutMs() }, async () => {
    const client = createRawClient(door.url);
    const before = residentMiB();
    const counts = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(anyRequest(), async (sent) => {
        const { status, type, text } = await client.send(sent);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        expect([sent.path, status]).toEqual([sent.path, expect.not.toBeOneOf([0, 500, 502])]);
        if (status < 400 || sent.method === 'HEAD') return;
        // What the table refuses tells its own kind of answer, such as that of a reload.
        expect([sent.path, status, type]).toEqual([sent.path, status, expect.stringMatching(/json/)]);
        expect(JSON.parse(text)).toMatchObject({ code: expect.stringMatching(/^[a-z-]+$/), status });
      }),
      fuzzParameters(400),
    );
    client.close();
    process.stdout.write(
      `HTTP answers by status: ${JSON.stringify(Object.fromEntries(counts))}; resident ${before.toFixed(0)} -> ${residentMiB().toFixed(0)} MiB\n`,
    );
    expect((await door.fetch('/healthz')).status).toBe(200);
    expect(residentMiB() - before).toBeLessThan(mostGrowthMiB);
  });
});

describe('the WebSocket door', () => {
  it(seeded('answers any message, and lives on'), { timeout: fuzzTimeoutMs() }, async () => {
    const before = residentMiB();
    const methods = [
      ...door.operations.map(({ name }) => name),
      'auth',
      'rpc.cancel',
      'rpc.discover',
      'events.subscribe',
      'events.unsubscribe',
    ];
    const request = nearlyRight(['jsonrpc', 'id', 'method', 'params'], {
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.integer(), anyText, fc.constant(null)),
      method: fc.oneof(fc.constantFrom(...methods.filter((name) => !name.startsWith('doctor'))), anyText),
      params: nearlyRight(
        ['ref', 'arguments', 'name', 'id', 'token', 'ticket', 'subscription', 'types', 'since', 'limit', 'enabled', 'text'],
        { ref: fc.constantFrom('echo', 'x', '__proto__'), arguments: fc.dictionary(anyText, anyJson) },
      ),
    });
    const frame = fc.oneof(
      request.map((value) => JSON.stringify(value)),
      fc.array(fc.oneof(request, anyJson), { maxLength: 5 }).map((value) => JSON.stringify(value)),
      anyText,
    );
    let socket = await connect();
    let probes = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 4 }), fc.boolean(), async (frames, isBinary) => {
        for (const text of frames) socket.send(text);
        const probe = `probe-${++probes}`;
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: probe, method: 'status.show' }));
        expect(await answerTo(socket, probe)).not.toContain('"internal"');
        if (!isBinary || probes % 10 !== 0) return;
        socket.send(Buffer.from([0, 255, 1]));
        await once(socket, 'close');
        socket = await connect();
      }),
      fuzzParameters(200),
    );
    socket.terminate();
    process.stdout.write(
      `WebSocket probes answered: ${probes}; resident ${before.toFixed(0)} -> ${residentMiB().toFixed(0)} MiB\n`,
    );
    expect(residentMiB() - before).toBeLessThan(mostGrowthMiB);
  });
});

async function connect(): Promise<WebSocket> {
  const socket = new WebSocket(`${door.url.replace('http', 'ws')}/ws`, { headers: { authorization: `Bearer ${door.token}` } });
  await once(socket, 'open');
  return socket;
}

/** All that was answered up to the answer to the probe. */
function answerTo(socket: WebSocket, probe: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let seen = '';
  const closed = () => reject(new Error('the connection was closed'));
  const look = (data: unknown) => {
    const text = String(data);
    if (!text.includes('"events.')) seen += text;
    if (!text.startsWith(`{"jsonrpc":"2.0","id":"${probe}"`)) return;
    socket.off('message', look).off('close', closed);
    resolve(seen);
  };
  socket.on('message', look).on('close', closed);
  return promise;
}
