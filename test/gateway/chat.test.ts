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
});
