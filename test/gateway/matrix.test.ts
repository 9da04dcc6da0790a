import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAsClient } from '../models/wire/clients.ts';
import { answers, callsOf, type Shape, shapes, streams } from '../models/wire/upstreams.ts';
import { formats, type GatewayHouse, nameOf, openGateway, requestOf } from './gateway-house.ts';
import { sendJson, sendStream } from './provider-server.ts';

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGateway();
});
afterAll(() => house.close());

const callStops = { 'openai-chat': 'tool_calls', 'openai-responses': 'completed', anthropic: 'tool_use', gemini: 'STOP' };
const cutStops = {
  'openai-chat': ['length'],
  'openai-responses': ['interrupted', 'max_output_tokens'],
  anthropic: ['max_tokens'],
  gemini: ['OTHER', 'MAX_TOKENS'],
};

describe.each(formats)('a client of %s', (client) => {
  describe.each(formats)('and a provider of %s', (upstream) => {
    const isSame = client === upstream && client !== 'openai-responses';

    async function ask(shape: Shape, isStreamed: boolean): Promise<unknown> {
      const { path, body } = requestOf(client, `${nameOf(upstream)}/m-1`, isStreamed);
      house.provider.next((_request, response) =>
        isStreamed ? sendStream(response, streams[upstream](shape)) : sendJson(response, answers[upstream](shape)),
      );
      const response = await house.post(path, body);
      expect(response.status).toBe(200);
      const text = await response.text();
      if (isSame) {
        // What goes to its own format goes as it came; a stream without an end is told to be one.
        const sent = isStreamed ? streams[upstream](shape) : JSON.stringify(answers[upstream](shape));
        expect(text.startsWith(sent)).toBe(true);
        if (isStreamed && shape === 'truncated') expect(text.slice(sent.length)).toContain('broke off');
        else expect(text).toBe(sent);
        return undefined;
      }
      return isStreamed ? text : JSON.parse(text);
    }

    it.each(shapes.flatMap((shape) => [[shape, true] as const, [shape, false] as const]))(
      'lose no argument: %s, streamed %s',
      async (shape, isStreamed) => {
        const answer = await ask(shape, isStreamed);
        if (answer === undefined) return;
        if (shape === 'truncated' && typeof answer === 'string') {
          for (const said of ['Let me ', 'see.', 'Zür', 'broke off']) expect(answer).toContain(said);
          return;
        }
        const found = findAsClient(client, answer);
        const calls = callsOf(shape);
        expect(found.text).toBe('Let me see.');
        expect(found.calls.map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
        if (shape !== 'truncated') {
          expect(found.calls.map(({ given }) => given)).toEqual(calls.map(({ text }) => (text === '' ? {} : JSON.parse(text))));
          expect(found.stop).toBe(callStops[client]);
        } else {
          expect(cutStops[client]).toContain(found.stop);
          expect(JSON.stringify(found.calls[0]?.given)).toContain('Zür');
        }
      },
    );
  });
});
