import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';
import { type Provider, sendJson, sendStream, startProvider } from './provider-server.ts';

let provider: Provider;
let small: Awaited<ReturnType<typeof startSmallDaemon>>;

beforeAll(async () => {
  provider = await startProvider();
  small = await startSmallDaemon(
    {},
    {
      env: { PROVIDER_KEY: 'provider-secret' },
      models: { providers: { local: { baseUrl: `${provider.url}/v1`, model: 'm-1', key: 'PROVIDER_KEY' } } },
    },
    { listen: true },
  );
});
afterAll(async () => {
  await small.close();
  await provider.close();
});

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  of_this_server: { alone: true },
};

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const key = { authorization: `Bearer ${small.daemon.token}` };
  return fetch(`${small.daemon.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(Object.keys(headers).length === 0 ? key : headers) },
    body: JSON.stringify(body),
  });
}

describe('POST /v1/chat/completions to a provider of the same format', () => {
  it('passes request and answer on, with fields that nobody knows, and the key of the provider instead of that of the client', async () => {
    provider.next((_request, response) => sendJson(response, completion, 200, { 'x-ratelimit-remaining-requests': '7' }));
    const body = { model: 'local/m-9', messages: [{ role: 'user', content: 'Hi' }], unheard_of: [1] };
    const response = await post('/v1/chat/completions', body);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(completion);
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('7');
    const sent = provider.seen.at(-1);
    expect(sent?.body).toEqual({ ...body, model: 'm-9' });
    expect(sent?.headers.authorization).toBe('Bearer provider-secret');
    expect(JSON.stringify(sent?.headers)).not.toContain(small.daemon.token);
  });

  it('passes the bytes of a stream on', async () => {
    const text = 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n: a comment\n\ndata: [DONE]\n\n';
    provider.next((_request, response) => sendStream(response, text));
    const response = await post('/v1/chat/completions', { model: 'local', messages: [], stream: true });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe(text);
  });

  describe('as a stream', () => {
    const chunk = (fields: object) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...fields })}\n\n`;
    const said = ['Hel', 'lo.'].map((content) => chunk({ choices: [{ index: 0, delta: { content } }], of_this: 1 })).join('');
    const stop = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    const cost = chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
    const done = 'data: [DONE]\n\n';
    const uses = async () => {
      const headers = { authorization: `Bearer ${small.daemon.token}` };
      return Object(await (await fetch(`${small.daemon.url}/api/usage`, { headers })).json()).items[0];
    };
    const ask = async (more: object, text: string) => {
      const before = (await uses()) ?? { inputTokens: 0, outputTokens: 0, uncounted: 0, estimated: 0 };
      const headers = { 'content-type': 'text/event-stream', 'content-length': Buffer.byteLength(text) };
      provider.next((_request, response) => response.writeHead(200, headers).end(text));
      const messages = [{ role: 'user', content: 'Hello there' }];
      const response = await post('/v1/chat/completions', { model: 'local', messages, stream: true, ...more });
      const got = await response.text();
      const after = await uses();
      const grown = ['inputTokens', 'outputTokens', 'uncounted', 'estimated'].map((name) => after[name] - before[name]);
      return { got, sent: provider.seen.at(-1)?.body, grown };
    };

    it('has its provider tell what it costs, and takes the telling away from a client that did not ask', async () => {
      const asked = await ask({ stream_options: { include_obfuscation: false } }, said + stop + cost + done);
      expect(asked.got).toBe(said + stop + done);
      expect(asked.sent.stream_options).toEqual({ include_obfuscation: false, include_usage: true });
      expect(asked.grown).toEqual([7, 3, 0, 0]);
      const wanted = await ask({ stream_options: { include_usage: true } }, said + stop + cost + done);
      expect(wanted.got).toBe(said + stop + cost + done);
      expect(wanted.grown).toEqual([7, 3, 0, 0]);
    });

    it('that nobody counted is guessed, and said to be', async () => {
      const { got, grown } = await ask({}, said + stop + done);
      expect(got).toBe(said + stop + done);
      expect(grown).toEqual([expect.any(Number), expect.any(Number), 0, 1]);
      expect(Math.min(...grown.slice(0, 2))).toBeGreaterThan(1);
    });

    it('of a server that refuses to be asked is asked for without that, from then on', async () => {
      const refusal = {
        error: { message: "Unrecognized request argument supplied: 'stream_options'", type: 'invalid_request_error' },
      };
      provider.next((_request, response) => sendJson(response, refusal, 422));
      const before = provider.seen.length;
      const first = await ask({}, said + stop + done);
      expect(first.got).toBe(said + stop + done);
      expect(first.sent.stream_options).toBeUndefined();
      expect(provider.seen.length - before).toBe(2);
      expect((await ask({}, said + stop + done)).sent.stream_options).toBeUndefined();
      expect(provider.seen.length - before).toBe(3);
    });
  });
});
