import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../cli/terminal.ts';
import { complete, fail, startModelServer } from './model-server.ts';

let server: Awaited<ReturnType<typeof startModelServer>>;
let terminal: Terminal;
let daemon: Awaited<ReturnType<Terminal['start']>>;
let url = '';
let own = '';
let providers = '';

const config = (models: string) => `workers: { min: 1, max: 1 }\nenv: { OWN_KEY: sk-own-0123456789 }\nmodels:\n${models}`;

beforeAll(async () => {
  server = await startModelServer();
  own = `{ baseUrl: "${server.baseUrl}", model: m-1, key: OWN_KEY, maxRetries: 0 }`;
  providers = `  default: own\n  providers: { own: ${own}, groq: { key: MISSING_KEY } }\n  prices: { own/m-1: { input: 1, output: 2 } }\n`;
  terminal = openTerminal({
    'hotcell.config.yaml': config(providers),
    'plugins/asks.ts': `export default { description: 'Asks.', permissions: { llm: true },
      handler: async (_args: object, context: any) => {
        try { return (await context.llm.generate('ping')).text; } catch (error: any) { return error.code + ': ' + error.message; }
      } };`,
  });
  daemon = await terminal.start(['--grant-requested']);
  url = /http:\/\/127\.0\.0\.1:\d+/.exec(daemon.first)?.[0] ?? '';
});
afterAll(async () => {
  await daemon.stop();
  terminal.close();
  await server[Symbol.asyncDispose]();
});

const run = (...words: string[]) => terminal.run(words);

/** A key of role caller. */
async function makeKey(...rules: string[]): Promise<string> {
  return (await run('key', 'create', ...rules)).out.trim();
}

function chat(key: string, body: object = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'own', messages: [{ role: 'user', content: 'ping' }], ...body }),
  });
}

const ask = async (key: string, path: string): Promise<unknown> =>
  (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).json();

describe('hotcell models', () => {
  it('lists providers and models, and what is missing', async () => {
    const { out } = await run('models', 'list');
    expect(out).toMatch(/own +yes +openai-chat +http:\/\/127\.0\.0\.1:\d+\/v1 +OWN_KEY/);
    expect(out).toMatch(/groq +openai-chat +https:\/\/api\.groq\.com\/openai\/v1 +MISSING_KEY \(no value\)/);
    expect(out).toMatch(/own\/m-1 +yes +1\/2/);
    expect(out).toContain('The key "MISSING_KEY" of models.providers.groq has no value that may go to api.groq.com.');
    expect(out).toContain('hotcell secret set MISSING_KEY --host api.groq.com --header authorization');
    expect(JSON.parse((await run('models', '--json')).out).providers).toHaveLength(2);
  });

  it('tests a model with one short request, or says what is wrong and which line to change', async () => {
    const good = await run('models', 'test', 'own');
    expect([good.code, good.out]).toEqual([0, expect.stringMatching(/^ok own\/m-1 answered in \d+ ms, 7 tokens in, 3 out\n$/)]);
    expect(server.seen.at(-1)).toMatchObject({
      authorization: 'Bearer sk-own-0123456789',
      body: { model: 'm-1', max_tokens: 16 },
    });
    server.next((_seen, response) => fail(response, 404, 'no such model'));
    const bad = await run('models', 'test', 'own/m-9');
    expect([bad.code, bad.out]).toEqual([
      1,
      expect.stringContaining('The provider "own" does not know "m-9" (HTTP 404). It says: "no such model"'),
    ]);
    expect(bad.out).toContain('Correct models.providers.own.model or .baseUrl');
    const all = JSON.parse((await run('models', 'test', '--json')).out);
    expect(all.items).toMatchObject([
      { name: 'own', ok: true, answeredBy: 'own/m-1', text: 'pong' },
      { name: 'groq', ok: false, code: 'model-not-configured', fix: expect.stringContaining('MISSING_KEY') },
    ]);
    expect((await run('models', 'test', 'own/m-1', 'more')).code).toBe(2);
  });

  it('takes over an edit of the config with the next request, and reads the lists of providers', async () => {
    const edited = (model: string) =>
      terminal.write(
        'hotcell.config.yaml',
        config(
          `  default: own\n  aliases: { mine: own/${model} }\n  providers: { own: ${own}, gone: { baseUrl: "http://127.0.0.1:9/v1", model: m } }\n`,
        ),
      );
    edited('m-7');
    await expect
      .poll(async () => (await run('models', 'list')).out, { timeout: 20_000 })
      .toMatch(/mine +0|mine +unknown +own\/m-7/);
    expect((await run('models', 'test', 'mine')).out).toContain('own/m-7 answered');
    const listed = await run('models', 'list', '--fetch');
    expect(listed.out).toContain('own/listed-model');
    expect(listed.out).toContain('The server of the provider "gone" (127.0.0.1:9) cannot be reached (ECONNREFUSED).');
    expect(listed.out).toContain('hotcell models test gone');
    terminal.write('hotcell.config.yaml', config(providers));
    await expect.poll(async () => (await run('models', 'list')).out, { timeout: 20_000 }).toContain('MISSING_KEY');
  });

  it('is seen by the doctor, who asks nobody', async () => {
    const before = server.seen.length;
    expect((await run('doctor')).out).toMatch(
      /models +own is ready\. The key "MISSING_KEY" of models\.providers\.groq has no value/,
    );
    expect(server.seen.length).toBe(before);
  });
});

describe('keys with models and budgets of their own', () => {
  it('hear of their models alone', async () => {
    const key = await makeKey('--models', 'other/*');
    expect(await ask(key, '/api/models')).toEqual({ items: [], total: 0 });
    const refused = await chat(key);
    expect([refused.status, JSON.stringify(await refused.json())]).toEqual([404, expect.stringContaining('There is no model')]);
    expect(await ask(await makeKey('--models', 'own/*'), '/api/models')).toMatchObject({ items: [{ name: 'own/m-1' }] });
  });

  it('cannot pass their budget by fifty requests at once', async () => {
    const key = await makeKey('--tokens-per-day', '2000', '--tools', 'none');
    const gate = Promise.withResolvers<void>();
    let under = 0;
    server.always((_seen, response) => {
      under++;
      void gate.promise.then(() => complete(response, 'pong'));
    });
    const all = Array.from({ length: 50 }, () => chat(key, { max_tokens: 400 }));
    let refused = 0;
    const refusals = all.map(async (each) => {
      const { status } = await each;
      if (status === 429) refused++;
      return status;
    });
    await expect.poll(() => [under, refused], { timeout: 20_000 }).toEqual([4, 46]);
    gate.resolve();
    const statuses = await Promise.all(refusals);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(46);
    const last = await chat(key, { max_tokens: 2000 });
    expect(last.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await last.json()).toMatchObject({
      error: { message: expect.stringMatching(/^This key may use 2000 tokens of models a day; 1960 are left until /) },
    });
    expect(await ask(key, '/api/usage')).toMatchObject({
      items: [{ name: 'own/m-1', requests: 4, inputTokens: 28, outputTokens: 12, dollars: 0.000052, unpriced: 0 }],
      budget: { tokensPerDay: 2000, tokensLeft: 1960 },
    });
    server.always((_seen, response) => complete(response, 'pong'));
  });

  it('bounds the answer of a request that names no bound', async () => {
    const key = await makeKey('--dollars-per-day', '0.01', '--tools', 'none');
    expect((await chat(key)).status).toBe(200);
    expect(server.seen.at(-1)?.body.max_tokens).toBeGreaterThan(1000);
    expect(server.seen.at(-1)?.body.max_tokens).toBeLessThan(5000);
  });

  it('have what tools ask for them counted, too', async () => {
    const [poor, rich] = [
      await makeKey('--tokens-per-day', '50'),
      await makeKey('--tokens-per-day', '5000', '--models', 'none/*'),
    ];
    const call = async (key: string) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      return (await fetch(`${url}/api/tools/asks/call`, { method: 'POST', headers, body: '{"arguments":{}}' })).json();
    };
    expect(await call(poor)).toMatchObject({
      output: expect.stringMatching(/^model-budget-exceeded: This key may use 50 tokens/),
    });
    expect(await call(rich)).toMatchObject({ output: 'pong' });
    // With tools in the request the loop asks: the refusal is the same.
    expect((await chat(poor)).status).toBe(429);
    expect(await ask(rich, '/api/usage?by=tool')).toMatchObject({
      items: [{ name: 'asks', requests: 1 }],
      budget: { tokensLeft: 4990 },
    });
  });

  it('see their own usage, the operator that of all, and metrics count it', async () => {
    const own = await makeKey('--name', 'own', '--tools', 'none');
    await chat(own);
    expect(await ask(own, '/api/usage?by=key&days=1')).toMatchObject({ items: [{ requests: 1 }], total: 1 });
    const { out } = await run('usage', '--by', 'purpose');
    expect(out).toMatch(/PURPOSE +REQUESTS +TOKENS IN +OUT +COST/);
    expect(out).toMatch(/gateway +\d+ +\d+ +\d+ +\$0\.000/);
    expect(out).toMatch(/test +\d+ \(1 failed\)/);
    expect((await run('usage', '--by', 'moon')).err).toContain('Expected --by to be one of key, model, tool, day, purpose');
    expect((await run('usage', '--days', '0')).code).toBe(2);
    expect(JSON.parse((await run('usage', '--by', 'day', '--json')).out).items[0].name).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    const metrics = await (
      await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${await makeKey('--role', 'admin')}` } })
    ).text();
    expect(metrics).toMatch(/^hotcell_model_requests_total\{model="own\/m-1",status="ok"\} \d+$/m);
    expect(metrics).toMatch(/^hotcell_model_duration_seconds_bucket\{model="own\/m-1",le="\+Inf"\} \d+$/m);
    expect(metrics).toMatch(/^hotcell_model_cost_dollars_total\{model="own\/m-1"\} 0\.000\d+$/m);
  });
});

describe('without a model', () => {
  it('everything else works, and what needs one says so in one sentence', async () => {
    const bare = openTerminal({ 'plugins/greet.ts': `export default { description: 'Greets.', handler: () => 'hello' };` });
    const started = await bare.start();
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(started.first)?.[0] ?? '';
    expect((await bare.run(['call', 'greet'])).out).toBe('hello\n');
    expect((await bare.run(['doctor'])).out).toMatch(/models +No provider of models is named; what needs a model says so\./);
    const test = await bare.run(['models', 'test']);
    expect([test.code, test.err]).toEqual([1, expect.stringContaining('The config names no model: models.providers is empty.')]);
    const key = (await bare.run(['key', 'create'])).out.trim();
    for (const [path, sent] of [
      ['/v1/chat/completions', { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }],
      ['/v1/responses', { model: 'gpt-4o', input: 'hi' }],
      ['/v1/messages', { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }],
      ['/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
    ] as const) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(address + path, { method: 'POST', headers, body: JSON.stringify(sent) });
      // Anthropic has a status of its own for it.
      expect([path, response.status, await response.text()]).toEqual([
        path,
        path === '/v1/messages' ? 529 : 503,
        expect.stringContaining('models.providers is empty'),
      ]);
    }
    await started.stop();
    bare.close();
  });
});
