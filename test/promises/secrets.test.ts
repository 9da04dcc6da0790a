import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeRecording } from '../../src/calls/record/recording-codec.ts';
import { secretContracts } from '../../src/operations/contracts/access/secrets.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';
import { findTraces as findTracesOf } from './secret-traces.ts';

const headerValue = 's3cr+t/v4lue&of=the~header?9';
const queryValue = 'qu3ry "välue" of/the+config';
const values = [headerValue, queryValue];

/** Uses its secrets, and says everything that comes back in every way that it has. */
const teller = `export default {
  name: 'teller', description: 'Uses secrets and tells all it gets.',
  permissions: { net: ['127.0.0.1'], env: ['HEADER_KEY', 'QUERY_KEY'], kv: true, read: ['.'], write: ['.'] },
  handler: async ({ url, fail }: { url: string; fail?: boolean }, context: any) => {
    const key = context.env.get('HEADER_KEY');
    const query = context.config.get('QUERY_KEY');
    const told: any[] = [{ key, query }];
    for (const path of ['/plain', '/header', '/moved', '/base64', '/url', '/json', '/gzip', '/slow']) {
      const response = await context.fetch(url + path + '?key=' + encodeURIComponent(query), {
        headers: { 'x-key': 'Key ' + key }, redirect: path === '/moved' ? 'manual' : 'follow',
      });
      const text = await response.text();
      // Turned around nobody knows it again but this test: it tells what the guest really saw.
      const seen = JSON.stringify([response.url, response.statusText, [...response.headers], text]);
      told.push({ turned: [...seen].reverse().join('') });
      told.push({ path, url: response.url, statusText: response.statusText, headers: [...response.headers], text });
      context.log.info(text);
      context.progress(told.length, 9, text);
      await context.kv.set('k' + told.length, text);
      await context.files.write('told/' + told.length + '.txt', text);
    }
    if (fail) throw new Error('All of it: ' + JSON.stringify(told));
    return told;
  },
};
`;

/** Sends a secret until it is refused. */
const stubborn = `export default {
  name: 'stubborn', description: 'Goes on until it is refused.', permissions: { net: ['127.0.0.1'], env: ['HEADER_KEY'] },
  handler: async ({ url }: { url: string }, context: any) => {
    const key = context.env.get('HEADER_KEY');
    for (let n = 0; n < 2000; n++) {
      try { await context.fetch(url + '/plain', { headers: { 'x-key': key } }); }
      catch (error: any) { return { code: error.code, after: context.env.get('HEADER_KEY') ?? 'nothing' }; }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
};
`;

/** Puts a secret where it does not belong. */
const misuser = `export default {
  name: 'misuser', description: 'Misuses a secret.', permissions: { net: ['127.0.0.1'], env: ['HEADER_KEY'] },
  handler: async ({ url }: { url: string }, context: any) => {
    const key = context.env.get('HEADER_KEY');
    const tries = [
      [url + '/' + key, {}], [url + '/?key=' + key, {}], [url, { headers: { 'x-other': key } }],
      [url, { method: 'POST', body: key }], [url, { method: 'POST', body: new TextEncoder().encode(key) }],
    ];
    const codes = [];
    for (const [where, init] of tries) {
      try { await context.fetch(where, init); codes.push('sent'); } catch (error: any) { codes.push(error.code); }
    }
    return codes;
  },
};
`;

interface Upstream {
  readonly server: Server;
  readonly url: string;
  readonly seen: { header: string; query: string }[];
}

/** A server that tells back what it was sent, in every form. */
async function startUpstream(): Promise<Upstream> {
  const seen: Upstream['seen'] = [];
  const server = createServer((request, response) => {
    const { header, query } = readSecrets(request);
    seen.push({ header, query });
    const echo = `${header} and ${query}`;
    switch (new URL(request.url ?? '', 'http://upstream').pathname) {
      case '/header':
        return response
          .writeHead(200, `Hello ${header}`, { 'x-echo': header, 'set-cookie': `q=${encodeURIComponent(query)}` })
          .end('in the header');
      case '/moved':
        return response.writeHead(302, { location: `/other/${encodeURIComponent(header)}?q=${encodeURIComponent(query)}` }).end();
      case '/base64':
        return response.end(
          ['', 'x', 'xx'].map((pad) => Buffer.from(pad + echo + pad).toString('base64')).join('\n') +
            Buffer.from(query).toString('base64url'),
        );
      case '/url':
        return response.end(`${encodeURIComponent(echo)} ${new URLSearchParams({ echo })}`);
      case '/json':
        return response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ echo: [echo], hex: Buffer.from(echo).toString('hex') }));
      case '/gzip':
        return response.setHeader('content-encoding', 'gzip').end(gzipSync(`packed ${echo}`));
      case '/slow':
        response.write(`${'.'.repeat(70_000)}${echo.slice(0, 9)}`);
        return setTimeout(() => response.end(`${echo.slice(9)} and ${echo}`), 60);
      default:
        return response.end(echo);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function readSecrets(request: IncomingMessage): { header: string; query: string } {
  const { searchParams } = new URL(request.url ?? '', 'http://upstream');
  return { header: String(request.headers['x-key']).replace('Key ', ''), query: searchParams.get('key') ?? '' };
}

const findTraces = (haystack: string | Uint8Array) => findTracesOf(values, haystack);

describe('the search of this test', () => {
  it.each(values)('finds %s in every form', (value) => {
    const padded = ['', 'a', 'ab'].map((pad) => Buffer.from(`${pad}${value}xy`).toString('base64'));
    for (const text of [value, encodeURIComponent(value), JSON.stringify({ value }), ...padded])
      expect(findTraces(text)).not.toEqual([]);
  });
});

let folder: string;
let upstream: Upstream;
let daemon: DaemonProcess;
const ask = async (path: string) => {
  const answer = await fetch(daemon.url + path, { headers: { authorization: `Bearer ${daemon.token}` } });
  return answer.text();
};

beforeAll(async () => {
  upstream = await startUpstream();
  const granted = { net: ['127.0.0.1'], env: ['HEADER_KEY', 'QUERY_KEY'], kv: true, read: ['.'], write: ['.'] };
  folder = makeDaemonFolder(
    { 'teller.ts': teller, 'stubborn.ts': stubborn, 'misuser.ts': misuser },
    {
      log: { level: 'debug' },
      grants: { teller: granted, stubborn: granted, misuser: granted },
      secrets: { QUERY_KEY: { env: 'HIDDEN_IN_ENVIRONMENT', hosts: ['127.0.0.1'], query: 'key' } },
    },
  );
  process.env.HIDDEN_IN_ENVIRONMENT = queryValue;
  daemon = await startDaemonProcess(folder);
  delete process.env.HIDDEN_IN_ENVIRONMENT;
  const binding = { hosts: ['127.0.0.1'], header: 'x-key' };
  await daemon.client.invoke(secretContracts.set, { name: 'HEADER_KEY', value: headerValue, ...binding });
});
afterAll(async () => {
  await daemon.kill();
  upstream.server.closeAllConnections();
  upstream.server.close();
  removeDaemonFolder(folder);
});

describe('a granted secret', () => {
  it('reaches the server while no answer, log, event or record holds it, in any encoding', async () => {
    const stream = new AbortController();
    const pieces: string[] = [];
    const events = await fetch(`${daemon.url}/api/events`, {
      headers: { authorization: `Bearer ${daemon.token}` },
      signal: stream.signal,
    });
    const reading = events.body
      ?.pipeTo(new WritableStream({ write: (chunk) => void pieces.push(Buffer.from(chunk).toString()) }))
      .catch(() => {});
    const answer = await daemon.call('teller', { url: upstream.url });
    const failed = await daemon.call('teller', { url: upstream.url, fail: true });
    expect([answer.status, answer.error, failed.status]).toEqual(['success', undefined, 'error']);
    expect(upstream.seen).toEqual(Array(16).fill({ header: headerValue, query: queryValue }));
    // What the guest saw: placeholders before, labels after.
    expect(JSON.stringify(answer.output)).toContain('[secret HEADER_KEY] and [secret QUERY_KEY]');
    expect(JSON.stringify(answer.output).match(/\[secret QUERY_KEY\]/g)?.length).toBeGreaterThan(10);
    const turned = JSON.stringify(answer.output).match(/(?<="turned":")(?:[^"\\]|\\.)*/g) ?? [];
    const seen = turned.map((text) => [...String(JSON.parse(`"${text}"`))].reverse().join(''));
    expect([seen.length, seen.flatMap(findTraces)]).toEqual([8, []]);
    expect(failed.error?.message).toContain('[secret HEADER_KEY]');

    const paths = ['/api/executions', `/api/executions/${answer.executionId}`, `/api/executions/${failed.executionId}`];
    const others = [
      '/api/events/kept?limit=1000',
      '/api/secrets',
      '/api/plugins',
      '/api/plugins/teller',
      '/api/grants',
      '/metrics',
    ];
    const answers = await Promise.all([...paths, ...others].map(ask));
    stream.abort();
    await reading;
    const streamed = pieces.join('');
    expect(streamed).toContain('[secret HEADER_KEY]');
    const places = { answer: JSON.stringify(answer), failed: JSON.stringify(failed), streamed, answers: answers.join('\n') };
    for (const [place, text] of Object.entries({ ...places, output: daemon.output() })) {
      expect([place, findTraces(text)]).toEqual([place, []]);
    }
    expect(daemon.output()).toContain('[secret HEADER_KEY]');
    expect(await ask('/api/secrets')).toContain('HEADER_KEY');
  });

  it('is refused before anything is sent where it does not belong', async () => {
    const before = upstream.seen.length;
    expect((await daemon.call('misuser', { url: upstream.url })).output).toEqual(Array(5).fill('secret-misplaced'));
    expect(upstream.seen.length).toBe(before);
  });

  it('ends with its removal, inside a running call', async () => {
    const before = upstream.seen.length;
    const running = daemon.call('stubborn', { url: upstream.url });
    await expect.poll(() => upstream.seen.length, { timeout: 10_000 }).toBeGreaterThan(before + 1);
    expect(await daemon.client.invoke(secretContracts.remove, { name: 'HEADER_KEY' })).toMatchObject({ removed: true });
    expect((await running).output).toEqual({ code: 'secret-misplaced', after: 'nothing' });
    const sent = upstream.seen.slice(before).map(({ header }) => header);
    expect(new Set(sent)).toEqual(new Set([headerValue]));
  });

  it('is in no file of the data directory once it is removed, and one of the config never was', async () => {
    await daemon.kill();
    const dataDir = join(folder, '.hotcell');
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(5);
    for (const { parentPath, name } of files)
      expect([name, findTraces(readFileSync(join(parentPath, name)))]).toEqual([name, []]);
    const database = new DatabaseSync(join(dataDir, 'hotcell.db'));
    const recordings = database.prepare('select blob from recordings').all();
    expect(recordings.length).toBeGreaterThan(1);
    for (const { blob } of recordings) {
      const recording = blob instanceof Uint8Array ? await decodeRecording(blob) : undefined;
      expect(recording?.crossings.length).toBeGreaterThan(0);
      const bodies = recording?.crossings.map(({ answer }) => (answer.ok ? Buffer.from(answer.body ?? []).toString() : ''));
      expect(findTraces(JSON.stringify(recording) + bodies?.join('\n'))).toEqual([]);
    }
    database.close();
  });
});
