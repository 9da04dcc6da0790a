import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createHttpClient } from '../../../src/client/client.ts';
import { quotas } from '../../../src/config/quotas.ts';
import type { EventEnvelope } from '../../../src/events/event.ts';
import { toolContracts } from '../../../src/operations/contracts/tools.ts';
import { startSmallDaemon } from '../../small-daemon.ts';
import { readJson } from '../door-parts.ts';

const plugins = {
  'talks.ts': `export default { tools: {
    talks: { description: 'Logs and tells how far it is.', handler: async (_args: {}, context: any) => {
      context.log.info('first'); await context.progress(1, 2, 'half'); return 'done'; } },
    fails: { description: 'Fails.', handler: () => { throw new Error('on purpose'); } },
    asks: { description: 'Asks.', handler: async (_args: {}, context: any) => context.confirm('Go on?') },
  } };`,
  'guarded.ts': 'export default { isDangerous: true, handler: () => "ran" };',
};
const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
let url: string;
let token: string;
beforeAll(async () => {
  house = await startSmallDaemon(plugins, { callers: {} }, { listen: true });
  url = house.daemon.url ?? '';
  token = house.daemon.token;
});
afterAll(() => house.close());

async function post(tool: string, { key = token, body = {} }: { key?: string; body?: object } = {}) {
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream', 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/tools/${tool}/call`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

function readBlocks(text: string): { event: string; data: Record<string, unknown> }[] {
  const blocks = text.split('\n\n').filter((block) => block.includes('data: '));
  return blocks.map((block) => ({
    event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
    data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null'),
  }));
}

describe('an answer as a stream over HTTP', () => {
  it('tells the id of the call, what happens in it, and the answer last', async () => {
    const { status, type, text } = await post('talks');
    expect([status, type]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const blocks = readBlocks(text);
    const happens = ['execution-start', 'execution-log', 'execution-progress', 'execution-end'];
    expect(blocks.map(({ event }) => event)).toEqual(['accepted', ...happens, 'answer']);
    const [accepted, ...rest] = blocks;
    const answer = rest.pop();
    expect(new Set(rest.map(({ data }) => data.subject))).toEqual(new Set([accepted?.data.executionId]));
    expect(answer?.data).toMatchObject({ executionId: accepted?.data.executionId, status: 'success', output: 'done' });
  });

  it('ends with the answer of a call that failed, too', async () => {
    const blocks = readBlocks((await post('fails')).text);
    expect(blocks.at(-1)).toMatchObject({ event: 'answer', data: { status: 'error', error: { code: 'handler-threw' } } });
  });

  it('refuses with a status what does not begin', async () => {
    expect(await post('talk')).toMatchObject({ status: 404, type: expect.stringContaining('problem+json') });
    expect(await post('talks', { body: { wrong: 1 } })).toMatchObject({ status: 400 });
    expect(await post('talks', { key: 'nobody' })).toMatchObject({ status: 401 });
  });

  it('is plain JSON where an earlier call answers', async () => {
    const body = { idempotencyKey: 'once' };
    expect((await post('talks', { body })).type).toContain('text/event-stream');
    const again = await post('talks', { body });
    expect([again.status, again.type, JSON.parse(again.text).replayed]).toEqual([200, 'application/json; charset=utf-8', true]);
  });

  it('tells nothing of other calls, and what is asked and answered in this one', async () => {
    const asks = post('asks');
    await expect.poll(() => house.parts.approvals.list({ status: 'open', limit: 10 })).toHaveLength(1);
    await post('talks');
    const [question] = house.parts.approvals.list({ status: 'open', limit: 10 });
    await createHttpClient({ url, token }).invoke((await approvals()).answer, {
      id: question?.id ?? '',
      answer: 'approve',
      person: true,
    });
    const blocks = readBlocks((await asks).text).map(({ event }) => event);
    const asked = ['approval-request', 'approval-answer'];
    expect(blocks).toEqual(['accepted', 'execution-start', ...asked, 'execution-end', 'answer']);
  });
});

const approvals = async () => (await import('../../../src/operations/contracts/access/approvals.ts')).approvalContracts;

describe('callers who follow calls and are shut out or go away', () => {
  it('hears nothing more of a call once its key is revoked, not its answer either', async () => {
    const admin = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { id, key } = await readJson(await fetch(`${url}/api/keys`, { method: 'POST', headers: admin, body: '{}' }));
    const asks = post('asks', { key });
    await expect.poll(() => house.parts.approvals.list({ status: 'open', limit: 10 })).toHaveLength(1);
    expect((await fetch(`${url}/api/keys/${id}`, { method: 'DELETE', headers: admin })).status).toBe(200);
    const blocks = readBlocks((await asks).text);
    expect(blocks.map(({ event }) => event)).toEqual(['accepted', 'execution-start', 'approval-request', 'problem']);
    expect(blocks.at(-1)?.data).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(house.parts.approvals.list({ status: 'open', limit: 10 })).toEqual([]);
  });

  it('gives their places back at once, while the calls wait for a person', async () => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream', 'content-type': 'application/json' };
    const isFollowed = async () => {
      const away = new AbortController();
      const init = { method: 'POST', headers, body: '{}', signal: away.signal };
      const { status } = await fetch(`${url}/api/tools/asks/call`, init);
      away.abort();
      return status === 200;
    };
    for (let left = 0; left < 2 * quotas['door.streams'].perCaller; left++)
      await expect.poll(isFollowed, { interval: 2 }).toBe(true);
  });
});

describe('an answer as a stream in the client', () => {
  it('tells the same, and throws the problem of what was refused', async () => {
    const client = createHttpClient({ url, token });
    const events: EventEnvelope[] = [];
    const ids: string[] = [];
    const stream = { accepted: (id: string) => void ids.push(id), event: (event: EventEnvelope) => void events.push(event) };
    const answer = await client.invoke(toolContracts.call, { ref: 'talks' }, { stream });
    expect(ids).toEqual([answer.executionId]);
    expect(types(events).slice(-2)).toEqual(['execution-progress', 'execution-end']);
    await expect(client.invoke(toolContracts.call, { ref: 'talk' }, { stream })).rejects.toMatchObject({ code: 'tool-unknown' });
  });
});

describe('an answer as a stream over WebSocket', () => {
  it('comes as notifications under the id of the request, before its answer', async () => {
    const messages = await speak([{ id: 7, method: 'tools.call', params: { ref: 'talks' }, events: true }]);
    const methods = messages.map(({ method }) => method ?? 'answer');
    expect(methods).toEqual(['rpc.accepted', ...Array.from({ length: 4 }, () => 'rpc.event'), 'answer']);
    expect(messages.slice(0, -1).every(({ params }) => params?.id === 7)).toBe(true);
    expect(messages.at(-1)).toMatchObject({ id: 7, result: { output: 'done' } });
  });

  it('is refused where an operation tells nothing, and where nobody could tell whose it is', async () => {
    const [listed] = await speak([{ id: 1, method: 'tools.list', events: true }]);
    expect(listed).toMatchObject({ id: 1, error: { data: { code: 'body-invalid' }, message: 'tools.list tells no events.' } });
    const [unnamed] = await speak([{ method: 'tools.call', params: { ref: 'talks' }, events: true }]);
    expect(unnamed).toMatchObject({ id: null, error: { code: -32600 } });
  });
});

interface RpcMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly id?: unknown };
  readonly result?: unknown;
}

/** Sends requests and takes what comes until the first message that is no notification. */
async function speak(requests: readonly object[]): Promise<RpcMessage[]> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: `Bearer ${token}` } });
  const messages: RpcMessage[] = [];
  const answered = Promise.withResolvers<void>();
  socket.on('error', answered.reject);
  socket.on('message', (data) => {
    const message: RpcMessage = JSON.parse(String(data));
    messages.push(message);
    if (message.method === undefined) answered.resolve();
  });
  socket.on('open', () => {
    for (const request of requests) socket.send(JSON.stringify({ jsonrpc: '2.0', ...request }));
  });
  await answered.promise;
  socket.close();
  return messages;
}
