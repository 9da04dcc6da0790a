import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
});
