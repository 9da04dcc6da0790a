import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type McpHouse, openMcpHouse, programOf } from './mcp-house.ts';

let house: McpHouse | undefined;
const children: ChildProcess[] = [];
const servers: Server[] = [];

afterEach(async () => {
  await house?.close();
  house = undefined;
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address());
  return port;
}

/** A port that nobody listens on. */
async function findPort(): Promise<number> {
  const port = await listen(() => {});
  await new Promise((resolve) => servers.pop()?.close(resolve));
  return port;
}

/** The published server, over HTTP; resolves when it listens. */
async function startEverything(mode: 'streamableHttp' | 'sse', port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [programOf('server-everything'), mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'pipe',
  });
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => String(chunk).includes(String(port)) && resolve());
    child.stdout.on('data', (chunk) => String(chunk).includes(String(port)) && resolve());
    child.once('exit', () => reject(new Error('it ended')));
  });
  return child;
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

/** A small server of revision 2025-11-25; `onCall` answers calls of its tool `run`. */
async function startOwn(
  onCall: (request: IncomingMessage, response: ServerResponse, message: Message) => void,
  onRequest: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<number> {
  return listen(async (request, response) => {
    if (onRequest(request, response)) return;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const message: Message = JSON.parse(Buffer.concat(chunks).toString());
    const reply = (result: unknown): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    };
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === 'initialize') {
      return reply({
        protocolVersion: message.params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'own', version: '1.0.0' },
      });
    }
    if (message.method === 'tools/list') return reply({ tools: [{ name: 'run', inputSchema: { type: 'object' } }] });
    if (message.method === 'tools/call') return onCall(request, response, message);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'unknown' } }));
  });
}

const answerWith = (response: ServerResponse, { id }: Message, text: string): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } }));
};

describe('published servers over HTTP', () => {
  it.each(['streamableHttp', 'sse'] as const)('join by %s, and are there again after they were killed', async (mode) => {
    const port = await findPort();
    const child = await startEverything(mode, port);
    const path = mode === 'sse' ? '/sse' : '/mcp';
    house = await openMcpHouse({
      all: { url: `http://127.0.0.1:${port}${path}`, ...(mode === 'sse' ? { transport: 'sse' } : {}) },
    });
    const { tools } = await house.admit('all');
    expect(tools).toContain('all/echo');
    expect((await house.call('all/echo', { message: 'one' })).output).toBe('Echo: one');
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    expect((await house.call('all/echo', { message: 'two' })).error?.code).toBe('mcp-unreachable');
    await startEverything(mode, port);
    expect((await house.call('all/echo', { message: 'three' })).output).toBe('Echo: three');
  });
});

describe('a server over HTTP', () => {
  it('gets its key in its header, placed by the daemon, and nobody else does', async () => {
    const seen: string[] = [];
    const elsewhere = await listen((request, response) => {
      seen.push(`elsewhere ${request.headers.authorization ?? 'nothing'}`);
      response.writeHead(404).end();
    });
    let isMoved = false;
    const port = await startOwn(
      (request, response, message) => {
        seen.push(request.headers.authorization ?? 'nothing');
        answerWith(response, message, `you sent ${request.headers.authorization}`);
      },
      (_request, response) => {
        if (isMoved) response.writeHead(307, { location: `http://127.0.0.1:${elsewhere}/mcp` }).end();
        return isMoved;
      },
    );
    const url = `http://127.0.0.1:${port}/mcp`;
    house = await openMcpHouse({ keyed: { url, net: ['127.0.0.1'], headers: { Authorization: 'Bearer $' + '{secret:KEY}' } } });
    const { lastError } = await house.server('keyed', ({ state }) => state === 'failed');
    expect(lastError).toContain('The secret KEY of the MCP server "keyed" is not there');
    house.parts.secrets.set({ name: 'KEY', value: 'sk-very-secret-value', hosts: ['127.0.0.1'], header: 'authorization' });
    house.parts.mcp.restart('keyed');
    await house.admit('keyed');
    const { output } = await house.call('keyed/run');
    expect(seen).toEqual(['Bearer sk-very-secret-value']);
    expect(output).toBe('you sent Bearer [secret KEY]');
    isMoved = true;
    expect((await house.call('keyed/run')).error?.code).toBe('mcp-unreachable');
    expect(seen.filter((line) => line.startsWith('elsewhere') && line !== 'elsewhere nothing')).toEqual([]);
  });

  it.each([
    ['this machine, by a name', 'http://inner.example.com/mcp', ['127.0.0.1']],
    ['a private network, by a name', 'http://inner.example.com/mcp', ['10.0.0.7']],
    ['metadata of a cloud, by a name', 'http://inner.example.com/mcp', ['169.254.169.254']],
  ])('does not lead to %s', async (_what, url, addresses) => {
    house = await openMcpHouse({ far: { url } }, {}, { resolver: async () => addresses });
    const { lastError, state } = await house.server('far', (view) => view.state === 'failed');
    expect(state).toBe('failed');
    expect(lastError).toMatch(/may not reach inner\.example\.com: its address is/);
  });

  it('does not lead there by redirects, also in answers to calls', async () => {
    const reached: string[] = [];
    const inner = await listen((request, response) => {
      reached.push(request.url ?? '');
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    const port = await startOwn((_request, response) => {
      response.writeHead(307, { location: `http://localhost:${inner}/admin` }).end();
    });
    house = await openMcpHouse({ moving: { url: `http://127.0.0.1:${port}/mcp` } });
    await house.admit('moving');
    expect((await house.call('moving/run')).error?.code).toBe('mcp-unreachable');
    expect(reached).toEqual([]);
  });

  it('sends no more than is read: neither one answer nor one event without end', async () => {
    const flood = Buffer.alloc(1024 * 1024, 'x');
    const pour = (response: ServerResponse): void => {
      while (!response.destroyed && response.write(flood));
      if (!response.destroyed) response.once('drain', () => pour(response));
    };
    let asEvents = false;
    let isCut = Promise.withResolvers<void>();
    const port = await startOwn((_request, response) => {
      response.writeHead(200, { 'content-type': asEvents ? 'text/event-stream' : 'application/json' });
      response.write(asEvents ? 'data: ' : '"');
      response.once('close', () => isCut.resolve());
      pour(response);
    });
    house = await openMcpHouse({ wide: { url: `http://127.0.0.1:${port}/mcp` } });
    await house.admit('wide');
    expect((await house.call('wide/run')).status).toBe('error');
    await isCut.promise;
    isCut = Promise.withResolvers();
    asEvents = true;
    house.call('wide/run').catch(() => undefined);
    await isCut.promise;
  });

  it('may send events without end: the call has its time, other calls go on', async () => {
    const endless = new Set<ServerResponse>();
    const port = await startOwn((_request, response, message) => {
      if (endless.size > 0) return answerWith(response, message, 'quick');
      endless.add(response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const line = 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"again"}}\n\n'.repeat(
        100,
      );
      const more = (): void => {
        while (!response.destroyed && response.write(line));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    house = await openMcpHouse({ endless: { url: `http://127.0.0.1:${port}/mcp`, timeoutMs: 1500 } });
    await house.admit('endless');
    const long = house.call('endless/run');
    await house.until(() => endless.size > 0);
    expect((await house.call('endless/run')).output).toBe('quick');
    expect(await long).toMatchObject({ status: 'timeout' });
    await house.until(() => [...endless].every((response) => response.destroyed));
  });
});
