import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CapabilityTable } from '../../../src/border/capability.ts';
import { createUser } from '../../capabilities/capability-user.ts';
import { startWebServer, type WebServer } from '../../capabilities/network/web-server.ts';
import { openTable } from '../../capabilities/table-harness.ts';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

// A plugin, the engine, the capability and a server, all of them real.

const MIB = 1024 * 1024;
const user = createUser({ net: ['127.0.0.1'] });

let cells: CellEngine;
let server: WebServer;
let house: ReturnType<typeof openTable>;
let respond: (response: ServerResponse) => void = () => {};
beforeAll(async () => {
  cells = await startCellEngine();
  house = openTable();
  server = await startWebServer((_request, response) => respond(response));
});
afterAll(async () => {
  await cells.close();
  await house[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function run(handler: string, table: CapabilityTable = house.table) {
  const program = await cells.load(`{ handler: ${handler} }`);
  const args = { url: `http://127.0.0.1:${server.port}/` };
  const outcome = await cells.call(program, { args, answer: (request, signal) => table.answer(request, user, signal) });
  table.endCall(user.executionId);
  return outcome;
}

describe('a plugin that reads a large response', () => {
  it('gets all of it in a handful of crossings', async () => {
    respond = (response) => void response.end(Buffer.alloc(5 * MIB, 'x'));
    const outcome = await run('async ({ url }) => (await (await fetch(url)).text()).length');
    expect(outputOf(outcome)).toBe(5 * MIB);
    expect(outcome.usage.hostCalls).toBeLessThan(10);
  });

  it('has every crossing recorded', async () => {
    respond = (response) => void response.end(Buffer.alloc(300_000, 'x'));
    const outcome = await run('async ({ url }) => (await (await fetch(url)).text()).length');
    expect(outputOf(outcome)).toBe(300_000);
    expect(outcome.recording?.crossings.map(({ op }) => op)).toEqual(['fetch', 'fetch.read']);
    expect(outcome.recording?.complete).toBe(true);
  });

  it('holds little of it when it reads chunk by chunk', async () => {
    respond = (response) => void response.end(Buffer.alloc(9 * MIB, 'x'));
    const outcome = await run(`async ({ url }) => {
      let bytes = 0, largest = 0;
      for await (const chunk of (await fetch(url)).body) { bytes += chunk.length; largest = Math.max(largest, chunk.length); }
      return { bytes, isSmall: largest <= 65536 };
    }`);
    expect(outputOf(outcome)).toEqual({ bytes: 9 * MIB, isSmall: true });
  });

  it('is told where it was cut', async () => {
    respond = (response) => void response.end(Buffer.alloc(11 * MIB, 'x'));
    const outcome = await run(`async ({ url }) => {
      const response = await fetch(url);
      return [response.truncated, (await response.bytes()).length, response.truncated];
    }`);
    expect(outputOf(outcome)).toEqual([false, 10 * MIB, true]);
  });

  it('acts on events while the server holds the connection open, and its end closes the connection', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    respond = (response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n');
      setTimeout(() => response.write('data: two\n\n'), 50);
    };
    const outcome = await run(`async ({ url }) => {
      const reader = (await fetch(url)).body.pipeThrough(new TextDecoderStream()).getReader();
      return [(await reader.read()).value, (await reader.read()).value];
    }`);
    expect(outputOf(outcome)).toEqual(['data: one\n\n', 'data: two\n\n']);
    await closed;
  });

  it('may send no endless stream', async () => {
    const outcome = await run(`async ({ url }) => {
      const body = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1e6)); } });
      return fetch(url, { method: 'POST', body }).catch((e) => [e.name, e.message]);
    }`);
    expect(outputOf(outcome)).toEqual(['TypeError', expect.stringContaining('at most 16777216 bytes')]);
  });
});
