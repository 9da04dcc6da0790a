import { afterEach, describe, expect, it } from 'vitest';
import type { TextRequest, TextResult } from '../../src/capabilities/llm.ts';
import type { ModelSettings } from '../../src/config/settings/model-settings.ts';
import { complete, fail, startModelServer } from './model-server.ts';
import { openModels } from './open-models.ts';

const key = 'sk-very-secret-0123456789';
const request: TextRequest = {
  system: 'Be short.',
  messages: [{ role: 'user', content: 'ping' }],
  maxTokens: 50,
  temperature: undefined,
  json: undefined,
};
const by = { executionId: 'exec_1', caller: 'ann', tool: 'weather' };
const never = new AbortController().signal;

/** Asks the one model of a server, without trying again. */
function modelsOf(baseUrl: string, timeoutMs = 10_000) {
  const providers = { small: { baseUrl, model: 'm-1', key: 'KEY' } };
  const { generator } = openModels({ maxRetries: 0, timeoutMs, providers }, { KEY: key });
  return { generate: (asked: TextRequest, signal: AbortSignal) => generator.generate(asked, by, signal) };
}

function failureOf(result: TextResult) {
  return result.ok
    ? result
    : { code: result.error.code, text: `${result.error.message} ${result.error.fix}`, isBilled: result.isBilled };
}

describe('createTextGenerator', () => {
  const warnings: unknown[] = [];
  const onWarning = (warning: unknown) => warnings.push(warning);
  process.on('warning', onWarning);
  afterEach(() => expect(warnings).toEqual([]));

  it('asks the server in its wire format, and answers with what it used', async () => {
    await using server = await startModelServer();
    const models = modelsOf(server.baseUrl);
    expect(await models.generate({ ...request, temperature: 0.5 }, never)).toEqual({
      ok: true,
      text: 'pong',
      model: 'm-1',
      finishReason: 'stop',
      usage: { inputTokens: 7, outputTokens: 3 },
    });
    expect(server.seen).toMatchObject([
      {
        path: '/v1/chat/completions',
        authorization: `Bearer ${key}`,
        body: {
          model: 'm-1',
          max_tokens: 50,
          temperature: 0.5,
          messages: [
            { role: 'system', content: 'Be short.' },
            { role: 'user', content: 'ping' },
          ],
        },
      },
    ]);
    expect(server.seen[0]?.body).not.toHaveProperty('response_format');
  });

  it('asks for JSON, and for JSON of a shape', async () => {
    await using server = await startModelServer();
    const models = modelsOf(server.baseUrl);
    const schema = { type: 'object', properties: { n: { type: 'number' } } };
    await models.generate({ ...request, json: true }, never);
    await models.generate({ ...request, json: schema }, never);
    expect(server.seen.map(({ body }) => body.response_format)).toEqual([
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'answer', schema } },
    ]);
  });

  it('tells nothing of usage when the server does not', async () => {
    await using server = await startModelServer();
    server.next((_seen, response) => complete(response, 'pong', null));
    expect(await modelsOf(server.baseUrl).generate(request, never)).not.toHaveProperty('usage');
  });

  it.each([
    [401, `Incorrect API key provided: ${key}.`, 'model-failed', 'refused the key "KEY" of this daemon'],
    [403, 'no', 'model-failed', 'answered with HTTP 403'],
    [404, 'no such model', 'model-failed', 'does not know "m-1" (HTTP 404)'],
    [429, 'slow down', 'rate-limited', 'takes no more requests for 7 s (HTTP 429)'],
    [500, 'oops', 'model-failed', 'answered with HTTP 500'],
    [503, `a\u001b[31m\nb${'x'.repeat(2000)}`, 'model-failed', 'answered with HTTP 503'],
  ])('says what HTTP %d means, once, without the key', async (status, message, code, sentence) => {
    await using server = await startModelServer();
    server.next((_seen, response) => fail(response, status, message, { 'retry-after': '7' }));
    const failure = failureOf(await modelsOf(server.baseUrl).generate(request, never));
    expect(failure).toMatchObject({ code, isBilled: false, text: expect.stringContaining(sentence) });
    expect(JSON.stringify(failure)).not.toMatch(/sk-very-secret|\\u001b|\\n/);
    expect(JSON.stringify(failure).length).toBeLessThan(800);
    expect(server.seen.length).toBe(1);
  });

  it.each([
    ['is no JSON', 'Welcome to nginx'],
    ['has no choices', '{"choices":[]}'],
    ['is something else', '{"hello":[1]}'],
    ['is nothing', ''],
  ])('counts an answer that %s as used', async (_what, body) => {
    await using server = await startModelServer();
    server.next((_seen, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body));
    const failure = failureOf(await modelsOf(server.baseUrl).generate(request, never));
    expect(failure).toMatchObject({ code: 'model-failed', text: expect.stringContaining('"small"') });
  });

  it('bounds the answer', async () => {
    await using server = await startModelServer();
    server.next((_seen, response) => complete(response, 'x'.repeat(68_000_000)));
    const failure = failureOf(await modelsOf(server.baseUrl).generate(request, never));
    expect(failure).toMatchObject({ code: 'model-failed', text: expect.stringContaining('more than 67108864 bytes') });
  });

  it('ends a slow server at its time, and a cancelled request at once', async () => {
    await using server = await startModelServer();
    server.always(() => {});
    expect(failureOf(await modelsOf(server.baseUrl, 60).generate(request, never))).toMatchObject({
      code: 'time-exceeded',
      isBilled: true,
      text: expect.stringContaining('said nothing for 60 ms'),
    });
    const stop = new AbortController();
    const asked = modelsOf(server.baseUrl).generate(request, stop.signal);
    await expect.poll(() => server.seen.length).toBe(2);
    stop.abort();
    expect(failureOf(await asked)).toMatchObject({ code: 'cancelled', isBilled: true });
    await expect.poll(() => server.closed).toEqual(['cut', 'cut']);
  });

  it('follows no redirect, so that the key stays where it belongs', async () => {
    await using server = await startModelServer();
    await using other = await startModelServer();
    server.next((_seen, response) => response.writeHead(307, { location: `${other.baseUrl}/chat/completions` }).end());
    expect(failureOf(await modelsOf(server.baseUrl).generate(request, never))).toMatchObject({
      code: 'model-failed',
      text: expect.stringContaining('a redirect (HTTP 307)'),
    });
    expect(other.seen).toEqual([]);
  });

  it('says when nobody answers', async () => {
    const server = await startModelServer();
    await server[Symbol.asyncDispose]();
    expect(failureOf(await modelsOf(server.baseUrl).generate(request, never))).toMatchObject({
      code: 'model-failed',
      isBilled: false,
      text: expect.stringContaining('cannot be reached'),
    });
  });

  it('names the lines that are missing', () => {
    const one = { baseUrl: 'https://a.example/v1', model: 'm' };
    const check = (more: Partial<ModelSettings>, keys: Record<string, string> = {}) => {
      try {
        openModels(more, keys).generator.check();
        return 'ready';
      } catch (error) {
        return error instanceof Error && 'code' in error && 'fix' in error
          ? `${error.code}: ${error.message} ${error.fix}`
          : 'bug';
      }
    };
    expect(check({})).toMatch(/^model-not-configured: .*models\.providers is empty.*openai: \{\}/);
    expect(check({ providers: { a: one, b: one } })).toMatch(/^model-not-configured: .*models\.default: one of a, b/);
    expect(check({ providers: { a: one, b: one }, default: 'b' })).toBe('ready');
    expect(check({ providers: { a: { ...one, key: 'K' } } })).toMatch(
      /^model-not-configured: The key "K" of models\.providers\.a has no value .*environment variable K .*--header authorization/,
    );
    expect(check({ providers: { a: { ...one, key: 'K' } } }, { K: 'value' })).toBe('ready');
  });
});
