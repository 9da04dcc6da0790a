import { afterEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { complete, fail, startModelServer } from '../models/model-server.ts';
import { fixture, type McpHouse, nodeServer, openMcpHouse } from './mcp-house.ts';

const ignore = (): void => {};
const closers: Array<() => PromiseLike<unknown>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(sampling?: boolean | string) {
  const model = await startModelServer();
  closers.push(() => model[Symbol.asyncDispose]());
  const more = sampling === undefined ? {} : { sampling };
  const providers = { small: { baseUrl: model.baseUrl, model: 'm-1' } };
  const house: McpHouse = await openMcpHouse(
    { there: nodeServer(fixture('asks-models.mjs'), [], more) },
    { models: { providers } },
  );
  closers.push(house.close);
  await house.admit('there');
  const ask = async (args: object = {}, caller?: Caller) => {
    const { output, error } = await house.call('there/ask', args, caller === undefined ? {} : { caller });
    if (error !== undefined) throw new Error(error.message);
    const { canAsk, answers }: { canAsk: boolean; answers: ReadonlyArray<Record<string, unknown>> } = JSON.parse(String(output));
    return { canAsk, answers };
  };
  return { model, house, ask };
}

describe('a server that asks for a model', () => {
  it('gets none where its entry says nothing, and reads which setting allows it', async () => {
    const { model, ask } = await open();
    const { canAsk, answers } = await ask();
    expect(canAsk).toBe(false);
    expect(answers).toMatchObject([{ code: -32601, message: expect.stringContaining('mcp.servers.there.sampling') }]);
    expect(model.seen).toEqual([]);
  });

  it('gets an answer of the default model, bounded, on the account of the caller', async () => {
    const { model, house, ask } = await open(true);
    const more = { systemPrompt: 'Be short.', temperature: 0.5, modelPreferences: { hints: [{ name: 'm-9' }] } };
    const { canAsk, answers } = await ask({ more }, { id: 'ann', role: 'caller', modelTokensPerDay: 100_000 });
    expect(canAsk).toBe(true);
    expect(answers).toEqual([
      { role: 'assistant', content: { type: 'text', text: 'pong' }, model: 'm-1', stopReason: 'endTurn' },
    ]);
    expect(model.seen).toMatchObject([
      {
        body: {
          model: 'm-1',
          max_tokens: 8192,
          temperature: 0.5,
          messages: [
            { role: 'system', content: 'Be short.' },
            { role: 'user', content: 'ping' },
          ],
        },
      },
    ]);
    const day = Math.floor(Date.now() / 86_400_000);
    expect(house.parts.store.modelUses.used({ caller: 'ann', day })).toMatchObject({ tokens: 10 });
  });

  it('gets the model that its entry names', async () => {
    const { model, ask } = await open('small/m-2');
    expect((await ask()).answers).toMatchObject([{ model: 'm-2' }]);
    expect(model.seen).toMatchObject([{ body: { model: 'm-2' } }]);
  });

  it('asks within the budget of its caller, and learns nothing of budgets and providers', async () => {
    const { model, ask } = await open(true);
    const poor: Caller = { id: 'poor', role: 'caller', modelTokensPerDay: 5 };
    expect((await ask({}, poor)).answers).toEqual([
      { code: -32603, message: 'The model did not answer (model-budget-exceeded).' },
    ]);
    expect(model.seen).toEqual([]);
    model.always((_seen, response) => fail(response, 401, 'Incorrect API key provided: sk-0123456789'));
    expect((await ask()).answers).toEqual([{ code: -32603, message: 'The model did not answer (model-failed).' }]);
  });

  it('asks four times at once and twenty-five times in a call, with neither tools nor more than is read', async () => {
    const { model, ask } = await open(true);
    const held: Array<() => void> = [];
    model.always((_seen, response) => {
      held.push(() => complete(response, 'pong'));
      // The first four wait for each other: were they refused, nobody would be answered.
      if (held.length >= 4) for (const go of held.splice(0, held.length, ignore, ignore, ignore)) go();
    });
    const { answers } = await ask({ times: 10 });
    const answered = answers.filter(({ model: said }) => said === 'm-1').length;
    // A request that comes after an answer is one of four again.
    expect(answered).toBeGreaterThanOrEqual(4);
    expect(answers.filter(({ code }) => code === -32602)).toHaveLength(10 - answered);
    const tools = [{ name: 't', inputSchema: { type: 'object' } }];
    const many = (await ask({ times: 40, more: { tools } })).answers.map(({ message }) => message);
    expect(many.filter((each) => each === 'A model is asked without tools.')).toHaveLength(25);
    expect(many.filter((each) => each === 'One call may ask a model 25 times.')).toHaveLength(15);
    expect((await ask({ chars: 2_000_000 })).answers).toMatchObject([
      { code: -32602, message: 'A model is asked with at most 2000000 characters.' },
    ]);
    expect(model.seen).toHaveLength(answered);
  });

  it('sends no secret to the provider, and ends with its call', async () => {
    const { model, house, ask } = await open(true);
    house.parts.secrets.set({ name: 'HIDDEN', value: 'sk-hidden-0123456789', hosts: ['example.com'], header: 'x-key' });
    await ask({ more: { systemPrompt: 'It is sk-hidden-0123456789.' } });
    expect(JSON.stringify(model.seen)).not.toContain('sk-hidden-0123456789');
    model.always(() => {});
    const stop = new AbortController();
    const call = house.call('there/ask', {}, { signal: stop.signal });
    await house.until(() => model.seen.length === 2);
    stop.abort();
    expect((await call).status).toBe('cancelled');
    await house.until(() => model.closed.includes('cut'));
  });
});
