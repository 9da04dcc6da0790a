import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type GatewayHouse, openGateway } from './gateway-house.ts';
import { call, say, toolPlugins } from './scripted.ts';

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGateway(toolPlugins);
});
afterAll(() => house.close());

describe('a client whose connection is lost while a person is asked', () => {
  it('is refused while another reads, and finds the same answer when it comes again', async () => {
    const asked = Promise.withResolvers<string>();
    const end = house.parts.events.subscribe({ types: ['approval-request'] }, (event) => {
      if (event.type === 'approval-request') asked.resolve(event.data.approval);
    });
    say(house.provider, 'openai-chat', true, [[call('c1', 'wipe', { disk: 'C' })], []]);
    const body = { model: 'chat/m-1', stream: true, messages: [{ role: 'user', content: 'Go' }] };
    const leaving = new AbortController();
    const first = await house.post('/v1/chat/completions', body, {}, leaving.signal);
    const approval = await asked.promise;
    end();
    const refused = await house.post('/v1/chat/completions', body);
    expect([refused.status, Object(await refused.json()).error.code]).toEqual([409, 'request_in_progress']);
    leaving.abort();
    await first.text().catch(() => {});

    let again = await house.post('/v1/chat/completions', body);
    // The daemon hears a moment later that the connection is gone.
    while (again.status === 409) again = await house.post('/v1/chat/completions', body);
    expect(again.headers.get('x-hotcell-replay')).toBe('replayed');
    house.parts.approvals.answer(approval, 'approved', { id: 'local', role: 'admin', mayAnswer: true, isPerson: true });
    expect(await again.text()).toContain('Let me see.');
    expect(house.events.filter(({ type }) => type === 'execution-start')).toHaveLength(1);
    expect(JSON.stringify(house.provider.seen.at(-1)?.body)).toContain('wiped C');
  });

  it('over a WebSocket finds the response by its id, with the call run once, and goes on from it', async () => {
    const before = house.events.filter(({ type }) => type === 'execution-start').length;
    const asked = Promise.withResolvers<string>();
    const end = house.parts.events.subscribe({ types: ['approval-request'] }, (event) => {
      if (event.type === 'approval-request') asked.resolve(event.data.approval);
    });
    say(house.provider, 'openai-chat', true, [[call('c1', 'wipe', { disk: 'D' })], []]);
    const headers = { authorization: `Bearer ${house.token}` };
    const socket = new WebSocket(`${house.url.replace('http', 'ws')}/v1/responses`, { headers });
    const created = Promise.withResolvers<string>();
    socket.on('message', (data) => {
      const event = JSON.parse(String(data));
      if (event.type === 'response.created') created.resolve(event.response.id);
    });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'response.create', model: 'chat/m-1', input: 'Wipe D' }));
    const [id, approval] = [await created.promise, await asked.promise];
    end();
    socket.terminate();
    const find = async () => Object(await (await house.get(`/v1/responses/${id}`)).json());
    expect((await find()).status).toBe('in_progress');
    house.parts.approvals.answer(approval, 'approved', { id: 'local', role: 'admin', mayAnswer: true, isPerson: true });
    await expect.poll(async () => (await find()).status, { timeout: 20_000 }).toBe('completed');
    const { output } = await find();
    expect(output.filter((item: { type: string }) => item.type === 'mcp_call')).toMatchObject([{ output: 'wiped D' }]);
    expect(house.events.filter(({ type }) => type === 'execution-start').length - before).toBe(1);
    say(house.provider, 'openai-chat', false, [[]]);
    const next = await house.post('/v1/responses', { model: 'chat/m-1', input: 'And now?', previous_response_id: id });
    expect(Object(await next.json()).status).toBe('completed');
    expect(JSON.stringify(house.provider.seen.at(-1)?.body)).toContain('wiped D');
  });
});
