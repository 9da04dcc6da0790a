import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WireFormatName } from '../../src/models/wire/wire-format.ts';
import { findAsClient } from '../models/wire/clients.ts';
import { answers, streams, type UpstreamCall } from '../models/wire/upstreams.ts';
import { formats, type GatewayHouse, nameOf, openGateway, requestOf } from './gateway-house.ts';
import { type ProviderRequest, sendJson, sendStream } from './provider-server.ts';

const weather = `export default { name: 'weather', description: 'The weather of a city.',
  isParallelSafe: true,
  handler: (args: { city: string }) => 'sunny in ' + args.city }`;

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGateway({ 'weather.ts': weather });
});
afterAll(() => house.close());
let runsBefore = 0;
const runs = (): number => house.events.filter(({ type }) => type === 'execution-start').length - runsBefore;
beforeEach(() => {
  runsBefore = house.events.filter(({ type }) => type === 'execution-start').length;
});

const call = (id: string, name: string, args: object): UpstreamCall => ({ id, name, text: JSON.stringify(args) });

/** An answer of the provider with these calls, as its format has it. */
function answerWith(format: WireFormatName, isStreamed: boolean, calls: readonly UpstreamCall[]) {
  return (_request: ProviderRequest, response: Parameters<typeof sendJson>[0]): void =>
    isStreamed
      ? sendStream(response, streams[format](format === 'gemini' ? 'whole' : 'fragments', calls))
      : sendJson(response, answers[format]('fragments', calls));
}

/** All that the provider was sent in its last request. */
const lastSent = (): string => JSON.stringify(house.provider.seen.at(-1)?.body);

/** The next request of a client that got the call of `Read` and ran it. */
function followUp(format: WireFormatName, model: string, isStreamed: boolean, names: readonly string[]): [string, object] {
  const { path, body } = requestOf(format, model, isStreamed, names);
  const args = { path: 'a.txt' };
  const result = 'content of a.txt';
  switch (format) {
    case 'openai-chat': {
      const tool_calls = [{ id: 'call_read', type: 'function', function: { name: 'Read', arguments: JSON.stringify(args) } }];
      const said = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Let me see.', tool_calls },
        { role: 'tool', tool_call_id: 'call_read', content: result },
      ];
      return [path, { ...body, messages: said }];
    }
    case 'openai-responses': {
      const said = [
        { role: 'user', content: 'Hi' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me see.', annotations: [] }] },
        { type: 'function_call', call_id: 'call_read', name: 'Read', arguments: JSON.stringify(args) },
        { type: 'function_call_output', call_id: 'call_read', output: result },
      ];
      return [path, { ...body, input: said }];
    }
    case 'anthropic': {
      const said = [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'call_read', name: 'Read', input: args },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_read', content: result }] },
      ];
      return [path, { ...body, messages: said }];
    }
    case 'gemini': {
      const said = [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [{ text: 'Let me see.' }, { functionCall: { id: 'call_read', name: 'Read', args } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'call_read', name: 'Read', response: { output: result } } }] },
      ];
      return [path, { ...body, contents: said }];
    }
  }
}

const ways = formats.flatMap((client) =>
  formats.flatMap((upstream) => [true, false].map((isStreamed) => ({ client, upstream, isStreamed }))),
);

describe.each(ways)(
  'a client of $client with a provider of $upstream, streamed $isStreamed',
  ({ client, upstream, isStreamed }) => {
    const ask = (names: readonly string[], headers: Record<string, string> = {}) => {
      const { path, body } = requestOf(client, `${nameOf(upstream)}/m-1`, isStreamed, names);
      return house.post(path, body, { 'idempotency-key': `${client} ${upstream} ${isStreamed} ${names.join()}`, ...headers });
    };
    const read = async (response: Response) => {
      const text = await response.text();
      return findAsClient(client, isStreamed ? text : JSON.parse(text));
    };

    it('has the tool of the daemon run, and gets one answer', async () => {
      house.provider.next(answerWith(upstream, isStreamed, [call('call_1', 'weather', { city: 'Oslo' })]));
      house.provider.next(answerWith(upstream, isStreamed, []));
      const response = await ask(['Read']);
      expect(response.status).toBe(200);
      const found = await read(response);
      expect(found.calls).toEqual([]);
      expect(found.text.replaceAll(/\s/g, '')).toBe('Letmesee.Letmesee.');
      expect(runs()).toBe(1);
      expect(lastSent()).toContain('sunny in Oslo');
    });

    it('gets its own call alone of a mixed turn; the next request has the result of the other; a retry runs nothing twice', async () => {
      const calls = [call('call_read', 'Read', { path: 'a.txt' }), call('call_ours', 'weather', { city: 'Bern' })];
      house.provider.next(answerWith(upstream, isStreamed, calls));
      const names = ['Read', 'Other'];
      const found = await read(await ask(names));
      expect(found.calls).toEqual([{ name: 'Read', given: { path: 'a.txt' } }]);
      expect(runs()).toBe(1);

      const again = await ask(names);
      expect(again.headers.get('x-hotcell-replay')).toBe('replayed');
      expect((await read(again)).calls).toEqual(found.calls);
      expect(runs()).toBe(1);

      house.provider.next(answerWith(upstream, isStreamed, []));
      const followed = await house.post(...followUp(client, `${nameOf(upstream)}/m-1`, isStreamed, names));
      expect((await read(followed)).text).toContain('Let me see.');
      expect(runs()).toBe(1);
      // The provider has both calls, and both results, in one conversation that is whole.
      expect(lastSent()).toContain('content of a.txt');
      expect(lastSent()).toContain('sunny in Bern');
    });
  },
);
