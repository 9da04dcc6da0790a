import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { identifyRequest } from '../../src/gateway/request-fence.ts';
import type { WireFormatName } from '../../src/models/wire/wire-format.ts';
import { formats, type GatewayHouse, openGateway, requestOf } from './gateway-house.ts';
import { call, say, toolPlugins } from './scripted.ts';

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGateway(toolPlugins);
});
afterAll(() => house.close());
beforeEach(() => house.provider.forget());

const person = { id: 'local', role: 'admin' as const, mayAnswer: true, isPerson: true };
const runs = () => house.events.filter(({ type }) => type === 'execution-start').length;

/** A refusal as clients of the format read it. */
function refusal(format: WireFormatName, status: number, code: string, message: RegExp): object {
  const said = expect.stringMatching(message);
  if (format === 'anthropic') return { type: 'error', error: { type: expect.stringMatching(/_error$/), message: said } };
  if (format === 'gemini') return { error: { code: status, status: expect.stringMatching(/^[A-Z_]+$/), message: said } };
  return { error: { message: said, code, type: expect.any(String) } };
}

describe.each(formats)('a request of a client of %s that comes again', (format) => {
  const ask = (words: string, key: string, signal?: AbortSignal) => {
    const { path, body } = requestOf(format, 'chat/m-1', false, [words]);
    return house.post(path, body, { 'idempotency-key': `${format} ${key}` }, signal);
  };

  it('with its key and another body is refused, and runs nothing', async () => {
    say(house.provider, 'openai-chat', false, [[call('c1', 'weather', { city: 'Oslo' })], []]);
    expect((await ask('Read', 'reused')).status).toBe(200);
    const before = runs();
    const reused = await ask('Write', 'reused');
    expect(reused.status).toBe(409);
    expect(await reused.json()).toMatchObject(refusal(format, 409, 'idempotency_key_reused', /was used for another request/));
    // The first body is still answered, from what it came to.
    const again = await ask('Read', 'reused');
    expect([again.status, again.headers.get('x-hotcell-replay')]).toEqual([200, 'replayed']);
    expect(runs()).toBe(before);
  });

  it('while its answer is read is told when to come back, and gets the same answer then', async () => {
    const asked = Promise.withResolvers<string>();
    const end = house.parts.events.subscribe({ types: ['approval-request'] }, (event) => {
      if (event.type === 'approval-request') asked.resolve(event.data.approval);
    });
    say(house.provider, 'openai-chat', false, [[call('c1', 'wipe', { disk: format })], []]);
    const before = runs();
    const first = ask('Read', 'in progress');
    const approval = await asked.promise;
    end();
    const second = await ask('Read', 'in progress');
    expect([second.status, second.headers.get('retry-after')]).toEqual([409, '1']);
    expect(await second.json()).toMatchObject(refusal(format, 409, 'request_in_progress', /on another connection/));
    house.parts.approvals.answer(approval, 'approved', person);
    const whole: object = Object(await (await first).json());
    expect(await (await ask('Read', 'in progress')).json()).toMatchObject(
      Object.fromEntries(Object.entries(whole).filter(([name]) => !['created', 'created_at', 'completed_at'].includes(name))),
    );
    expect(runs() - before).toBe(1);
  });

  it('with its key, and ran no tool, is asked anew', async () => {
    say(house.provider, 'openai-chat', false, [[], []]);
    const [first, second] = [await ask('Read', 'no tool'), await ask('Read', 'no tool')];
    expect([first.status, second.status, second.headers.get('x-hotcell-replay')]).toEqual([200, 200, 'executed']);
  });

  it('of which nobody knows what its tools did says so, and runs nothing', async () => {
    const { body } = requestOf(format, 'chat/m-1', false, ['Read']);
    const key = `${format} unknown`;
    const { hash } = identifyRequest(format, body, key);
    // As a daemon leaves it that was killed before it could keep the loop.
    const row = { hash, loopId: 'loop_gone', answerId: 'resp_gone', before: [], hasRun: true };
    const atMs = Date.now();
    house.parts.store.keptAnswers.put({ caller: 'local', key: `request-key:${key}`, value: JSON.stringify(row), atMs });
    const before = [runs(), house.provider.seen.length];
    const response = await ask('Read', 'unknown');
    expect(response.status).toBe(500);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(60);
    expect(await response.json()).toMatchObject(
      refusal(format, 500, 'request_outcome_unknown', /not known whether its tools ran/),
    );
    expect([runs(), house.provider.seen.length]).toEqual(before);
  });
});

describe('a key that is revoked', () => {
  it.each(['off', 'all'])('ends the stream that it reads, and lets go of the provider: tools %s', async (tools) => {
    const { row, key } = house.parts.keys.create({ name: `leaving ${tools}`, role: 'caller' });
    const { promise: left, resolve } = Promise.withResolvers<void>();
    house.provider.next((_request, response) => {
      response.on('close', resolve);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n');
    });
    const body = { model: 'chat/m-1', stream: true, messages: [{ role: 'user', content: `Hi ${tools}` }] };
    const headers = { authorization: `Bearer ${key}`, 'x-hotcell-tools': tools };
    const response = await house.post('/v1/chat/completions', body, headers);
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"id"');
    house.parts.keys.revoke(row.id);
    await left;
    let isBroken = false;
    for (let next = await reader?.read().catch(() => undefined); ; next = await reader?.read().catch(() => undefined)) {
      if (next === undefined) isBroken = true;
      if (next === undefined || next.done) break;
    }
    expect(isBroken).toBe(true);
    expect((await house.post('/v1/chat/completions', body, headers)).status).toBe(401);
  });
});

describe('the few tools that lead to all others', () => {
  it('are what a model is told of in code mode, and run what they find', async () => {
    const { key } = house.parts.keys.create({ name: 'scripts', role: 'caller', rules: { code: true } });
    say(house.provider, 'openai-chat', false, [
      [call('c1', 'search_tools', { query: 'weather of a city' })],
      [call('c2', 'call_tool', { name: 'weather', arguments: { city: 'Oslo' } })],
      [],
    ]);
    const body = { model: 'chat/m-1', messages: [{ role: 'user', content: 'Is it sunny in Oslo?' }] };
    const response = await house.post('/v1/chat/completions', body, {
      'x-hotcell-tools': 'code',
      authorization: `Bearer ${key}`,
    });
    expect(Object(await response.json()).choices[0].message.content).toContain('Let me see.');
    const [first, second, third] = house.provider.seen.slice(-3).map((one) => one.body);
    const names = first.tools.map((tool: { function: { name: string } }) => tool.function.name);
    expect(names.sort()).toEqual(['call_tool', 'run_code', 'search_code', 'search_tools']);
    expect(JSON.stringify(second.messages)).toContain('weather');
    expect(JSON.stringify(third.messages)).toContain('sunny in Oslo');
  });
});
