import { once } from 'node:events';
import { connect } from 'node:net';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { createResourceWatches } from '../../src/events/resource-watches.ts';
import { createMcpDoor } from '../../src/mcp-door/mcp-door.ts';
import { prepareOperations } from '../../src/operations/invoke.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const files = {
  'danger.ts': `export default { description: 'Deletes.', isDangerous: true, permissions: { kv: true },
    handler: async ({ what }: { what: string }, context) => {
      const count = ((await context.kv.get('count')) ?? 0) + 1;
      await context.kv.set('count', count);
      return what + ' ' + count;
    } };`,
  'form.ts': `export default { description: 'Asks.', handler: async (_args: object, context) => JSON.stringify(await context.ask({
    name: 'who', message: 'Who?', schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } })) };`,
};
let small: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  small = await startSmallDaemon(files, {}, { listen: true });
});
afterAll(() => small.close());

const makeKey = () => small.parts.keys.create({ name: 'test', role: 'caller', rules: { mayAnswer: true } }).key;
const era = '2026-07-28';

async function call(key: string, name: string, params: object = {}): Promise<ReturnType<typeof JSON.parse>> {
  const answer = await fetch(`${small.daemon.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': era,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: { what: 'all' },
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': era,
          'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
        },
      },
    }),
  });
  return answer.json();
}

/** A call that waits for its person: its state, and the answer that lets it go on. */
async function ask(key: string) {
  const { result } = await call(key, 'danger');
  expect(result.resultType).toBe('input_required');
  const [question] = Object.keys(result.inputRequests);
  return {
    requestState: String(result.requestState),
    inputResponses: { [String(question)]: { action: 'accept', content: { allow: true } } },
  };
}

describe('the state that clients hand back', () => {
  it('is refused when it was changed, is made up, or came from another key', async () => {
    const key = makeKey();
    const { requestState, inputResponses } = await ask(key);
    const middle = Math.floor(requestState.length / 2);
    const other = requestState[middle] === 'A' ? 'B' : 'A';
    const changed = requestState.slice(0, middle) + other + requestState.slice(middle + 1);
    for (const [state, of] of [
      [changed, key],
      ['made.up', key],
      ['', key],
      [requestState, makeKey()],
      [requestState, small.daemon.token],
    ]) {
      const { error } = await call(of ?? '', 'danger', { requestState: state, inputResponses });
      expect(error, state).toMatchObject({ code: -32602 });
    }
    expect((await call(key, 'danger', { requestState, inputResponses })).result.content).toEqual([
      { type: 'text', text: 'all 1' },
    ]);
  });

  it('belongs to its arguments and its tool', async () => {
    const key = makeKey();
    const { requestState, inputResponses } = await ask(key);
    const moved = { requestState, inputResponses };
    expect((await call(key, 'danger', { ...moved, arguments: { what: 'more' } })).error).toMatchObject({ code: -32602 });
    expect((await call(key, 'form', moved)).error).toMatchObject({ code: -32602 });
  });

  it('runs nothing a second time when it is sent again', async () => {
    const key = makeKey();
    const state = await ask(key);
    const first = (await call(key, 'danger', state)).result.content;
    expect((await call(key, 'danger', state)).result.content).toEqual(first);
    expect(first).toEqual([{ type: 'text', text: 'all 1' }]);
  });
});

describe('answers of clients', () => {
  it('to questions that nobody asked change nothing', async () => {
    const key = makeKey();
    const inputResponses = {
      other: { action: 'accept', content: { allow: true } },
      apr_1: { action: 'accept', content: { allow: true } },
    };
    expect((await call(key, 'danger', { inputResponses })).result.resultType).toBe('input_required');
  });

  it('that do not fit are refused, and their question stays', async () => {
    const key = makeKey();
    const { requestState, inputResponses } = await ask(key);
    const [question = ''] = Object.keys(inputResponses);
    for (const answer of [
      { action: 'accept' },
      { action: 'accept', content: { allow: 'yes' } },
      { action: 'perhaps' },
      { role: 'x' },
    ]) {
      const { result, error } = await call(key, 'danger', { requestState, inputResponses: { [question]: answer } });
      expect(error !== undefined || result.isError === true || result.resultType === 'input_required').toBe(true);
    }
    const given = { who: { action: 'accept', content: { name: 7 } } };
    expect(JSON.stringify((await call(key, 'form', { inputResponses: given })).result)).toContain('name must be');
    expect((await call(key, 'danger', { requestState, inputResponses })).result.content).toEqual([
      { type: 'text', text: 'all 1' },
    ]);
  });

  it('let nothing go on where the key may not answer', async () => {
    const { key } = small.parts.keys.create({ name: 'mute', role: 'caller' });
    const before = small.parts.approvals.list({ status: 'open', limit: 100 }).length;
    const waiting = new AbortController();
    const sent = fetch(`${small.daemon.url}/api/tools/danger/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-hotcell-cancel-on-disconnect': '1' },
      body: JSON.stringify({ arguments: { what: 'all' } }),
      signal: waiting.signal,
    }).catch(() => undefined);
    await expect.poll(() => small.parts.approvals.list({ status: 'open', limit: 100 }).length).toBeGreaterThan(before);
    const [open] = small.parts.approvals.list({ status: 'open', limit: 1 });
    const answered = await call(key, 'danger', {
      arguments: { what: 'other' },
      inputResponses: { [String(open?.id)]: { action: 'accept', content: { allow: true } } },
      requestState: 'none',
    });
    expect(answered.error).toMatchObject({ code: -32602 });
    expect(small.parts.approvals.get(String(open?.id))?.status).toBe('open');
    waiting.abort();
    await sent;
  });
});

describe('a client that listens and never reads', () => {
  it('costs others nothing, whatever changes meanwhile', async () => {
    const key = makeKey();
    const { port } = new URL(small.daemon.url ?? '');
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { toolsListChanged: true },
        _meta: { 'io.modelcontextprotocol/protocolVersion': era, 'io.modelcontextprotocol/clientCapabilities': {} },
      },
    });
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: ${era}\r\nmcp-method: subscriptions/listen\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await once(socket, 'data');
    socket.pause();
    for (let change = 0; change < 10_000; change++) {
      small.parts.events.publish('tools-change', {
        subject: 'tools',
        data: { added: [`x${change}@1.0.0`], removed: [], changed: [] },
      });
    }
    expect((await call(key, 'danger')).result.resultType).toBe('input_required');
    socket.destroy();
  });
});

describe('a client that can ask nobody', () => {
  const openDoor = (holdMs: number) =>
    createMcpDoor({
      operations: prepareOperations(small.daemon.operations),
      events: small.parts.events,
      watches: createResourceWatches(),
      adminToken: small.daemon.token,
      isCurrent: () => true,
      watchKeys: () => () => {},
      version: '0.0.0',
      log: pino({ level: 'silent' }),
      surface: 'tools',
      holdMs,
    });
  const callerOf = (id: string): Caller => ({ id, role: 'caller' });

  async function callAt(
    door: ReturnType<typeof openDoor>,
    caller: Caller,
    init: { readonly signal?: AbortSignal } = {},
  ): Promise<ReturnType<typeof JSON.parse>> {
    const params = {
      name: 'danger',
      arguments: { what: 'all' },
      _meta: { 'io.modelcontextprotocol/protocolVersion': era, 'io.modelcontextprotocol/clientCapabilities': {} },
    };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': era,
      'mcp-method': 'tools/call',
      'mcp-name': 'danger',
    };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    return (await door.handle(new Request('http://localhost/mcp', { method: 'POST', headers, ...init }), body, caller)).json();
  }

  it('is told whom to ask, and the same call finds the one that waited; nobody else does', async () => {
    const door = openDoor(20);
    const first = (await callAt(door, callerOf('key_one'))).result;
    expect(first.isError).toBe(true);
    const [, id = ''] = /hotcell approve (\w+)/.exec(JSON.stringify(first.content)) ?? [];
    const other = JSON.stringify((await callAt(door, callerOf('key_two'))).result.content);
    expect(other).toContain('hotcell approve');
    expect(other).not.toContain(id);
    small.parts.approvals.answer(id, 'approved', {
      id: 'local',
      role: 'admin',
      mayAnswer: false,
      isPerson: true,
    });
    expect((await callAt(door, callerOf('key_one'))).result.content).toEqual([{ type: 'text', text: 'all 1' }]);
    // It was handed over: the next one is another call.
    expect(JSON.stringify((await callAt(door, callerOf('key_one'))).result.content)).toContain('hotcell approve');
    door.close();
  });

  it('gets its result when somebody answers while it is held', async () => {
    const door = openDoor(60_000);
    const answer = callAt(door, callerOf('key_three'));
    await expect.poll(() => small.parts.approvals.list({ caller: 'key_three', status: 'open', limit: 1 })).toHaveLength(1);
    const [open] = small.parts.approvals.list({ caller: 'key_three', status: 'open', limit: 1 });
    small.parts.approvals.answer(String(open?.id), 'approved', { id: 'local', role: 'admin', mayAnswer: false, isPerson: true });
    expect((await answer).result.content).toEqual([{ type: 'text', text: 'all 1' }]);
    door.close();
  });

  it('that hangs up while it is held, twice, finds the call that waits; no second question is asked', async () => {
    const door = openDoor(60_000);
    const openOf = () => small.parts.approvals.list({ caller: 'key_four', status: 'open', limit: 9 });
    for (let time = 0; time < 2; time++) {
      const hangUp = new AbortController();
      const answer = callAt(door, callerOf('key_four'), { signal: hangUp.signal }).catch(() => undefined);
      await expect.poll(openOf).toHaveLength(1);
      hangUp.abort();
      await answer;
    }
    const last = callAt(door, callerOf('key_four'));
    expect(openOf()).toHaveLength(1);
    small.parts.approvals.answer(String(openOf()[0]?.id), 'approved', {
      id: 'local',
      role: 'admin',
      mayAnswer: false,
      isPerson: true,
    });
    expect((await last).result.content).toEqual([{ type: 'text', text: 'all 1' }]);
    expect(openOf()).toHaveLength(0);
    door.close();
  });
});
