import { describe, expect, it } from 'vitest';
import { modelContracts } from '../../src/operations/contracts/models.ts';
import { prepareOperations } from '../../src/operations/invoke.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { fail, startModelServer } from './model-server.ts';

const asks = `
export default {
  name: 'asks', description: 'Asks a model.', permissions: { llm: 2000 },
  handler: async ({ request }: { request: any }, context) => {
    try { return await context.llm.generate(request); } catch (error) { return { code: error.code, message: error.message }; }
  },
};`;

const withoutModel = { 'asks.ts': asks };

describe('a plugin that asks a model', () => {
  it('gets its answer, within a budget that outlives the daemon', async () => {
    await using server = await startModelServer();
    const providers = { small: { baseUrl: server.baseUrl, model: 'm-1', key: 'MODEL_KEY' } };
    const small = await startSmallDaemon(withoutModel, { models: { providers }, env: { MODEL_KEY: 'sk-0123456789' } });
    expect((await small.call('asks', { request: 'ping' })).output).toEqual({
      text: 'pong',
      model: 'm-1',
      finishReason: 'stop',
      usage: { inputTokens: 7, outputTokens: 3, budgetLeft: 1990 },
    });
    expect(server.seen).toMatchObject([{ authorization: 'Bearer sk-0123456789', body: { max_tokens: 1024 } }]);
    server.next((_seen, response) => fail(response, 401, 'Incorrect API key provided: sk-0123456789'));
    const refused = (await small.call('asks', { request: 'ping' })).output;
    expect(refused).toMatchObject({ code: 'model-failed', message: expect.stringContaining('refused the key "MODEL_KEY"') });
    expect(JSON.stringify(refused)).not.toContain('sk-0123456789');
    expect((await small.call('asks', { request: { prompt: 'ping', maxTokens: 1990 } })).output).toMatchObject({
      code: 'quota-exceeded',
      message: expect.stringContaining('1990 are left until'),
    });
    const operations = prepareOperations(small.daemon.operations);
    const invoke = (name: string, role: 'admin' | 'caller') =>
      operations
        .get(name)
        ?.invoke({}, { caller: { id: role === 'admin' ? 'local' : 'ann', role }, signal: new AbortController().signal });
    expect(invoke(modelContracts.usage.name, 'admin')).toMatchObject({
      total: 1,
      items: [{ plugin: 'asks', caller: 'local', tokens: 10, budget: 2000 }],
    });
    expect(invoke(modelContracts.usage.name, 'caller')).toMatchObject({ total: 0 });
    expect(await invoke(modelContracts.list.name, 'admin')).toEqual({
      total: 1,
      items: [{ name: 'small/m-1', provider: 'small', model: 'm-1', isDefault: true }],
      providers: [
        {
          name: 'small',
          baseUrl: server.baseUrl,
          format: 'openai-chat',
          model: 'm-1',
          key: 'MODEL_KEY',
          isReady: true,
          isDefault: true,
        },
      ],
    });
    expect(await invoke(modelContracts.list.name, 'caller')).not.toHaveProperty('providers');
    expect(await invoke(modelContracts.uses.name, 'admin')).toMatchObject({
      items: [{ name: 'small/m-1', requests: 2, failed: 1, inputTokens: 7, outputTokens: 3, dollars: 0, unpriced: 1 }],
    });
    expect(await invoke(modelContracts.uses.name, 'caller')).toMatchObject({ items: [] });
    await small.close();
  });

  it('is cut off with its call', async () => {
    await using server = await startModelServer();
    server.always(() => {});
    const small = await startSmallDaemon(withoutModel, {
      models: { providers: { small: { baseUrl: server.baseUrl, model: 'm' } } },
    });
    const stop = new AbortController();
    const call = small.call('asks', { request: 'ping' }, { signal: stop.signal });
    await expect.poll(() => server.seen.length).toBe(1);
    stop.abort();
    expect((await call).status).toBe('cancelled');
    await expect.poll(() => server.closed).toEqual(['cut']);
    await small.close();
  });

  it('is told which lines are missing where there is no model', async () => {
    const small = await startSmallDaemon(withoutModel);
    expect((await small.call('asks', { request: 'ping' })).output).toMatchObject({
      code: 'model-not-configured',
      message: expect.stringContaining('models.providers is empty. Add it, as in: models: {'),
    });
    await small.close();
  });
});
