import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';
import { ask, operator, say, sendParts, startModel } from './rig.ts';

/** Asks with what it is given, on one engine or another. */
const asks = (engine: string, permissions: string) => `export default {
  description: 'Asks a model.', engine: '${engine}', permissions: ${permissions}, timeoutMs: 60_000,
  handler: async ({ request }: { request: any }, context) => {
    try { return await context.llm.generate(request); } catch (error) { return { code: error.code, message: error.message }; }
  } }`;

const plugins = {
  'asks.ts': asks('quickjs', `{ llm: 100_000, tools: ['weather', 'wipe', 'asks', 'fails', 'nowhere', 'wheather'] }`),
  'asks-in-deno.ts': asks('deno', `{ llm: 100_000, tools: ['weather'] }`),
  'poor.ts': asks('quickjs', `{ llm: 3000, tools: ['weather'] }`),
  'calls.ts': `export default { description: 'Calls a tool.', permissions: { tools: ['weather'] },
    handler: async ({ request }: { request: any }, context) => {
      try { return await context.tools.call(request, {}) } catch ({ code, message }) { return { code, message } }
    } }`,
  'alone.ts': asks('quickjs', '{ llm: 100_000 }'),
  'weather.ts': `export default { description: 'The weather of a city.', isParallelSafe: true,
    handler: ({ city }: { city: string }) => 'sunny in ' + city }`,
  'wipe.ts': `export default { description: 'Wipes a disk.', isDangerous: true, handler: ({ disk }: { disk: string }) => 'wiped ' + disk }`,
  'fails.ts': `export default { description: 'Fails.', parameters: { type: 'object' }, handler: () => { throw new Error('broken') } }`,
};

let model: Awaited<ReturnType<typeof startModel>>;
let small: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  model = await startModel();
  small = await startSmallDaemon(plugins, model.settings);
});
afterAll(async () => {
  await small.close();
  await model.close();
});
beforeEach(() => model.forget());

// biome-ignore lint/suspicious/noExplicitAny: answers of plugins are looked into freely
const run = async (tool: string, request: object | string): Promise<any> => (await small.call(tool, { request })).output;
const twoCities = [ask('weather', 'a', { city: 'Oslo' }), ask('weather', 'b', { city: 'Bern' })];

describe('context.llm.generate with tools', () => {
  it.each(['asks', 'asks-in-deno'])('lets the model call them, side by side where they may: %s', async (tool) => {
    model.next((_request, response) => sendParts(response, twoCities));
    model.next((_request, response) => sendParts(response, [say('Both are sunny.')]));
    const answer = await run(tool, { prompt: 'Where is it sunny?', tools: ['weather'] });
    expect(answer).toMatchObject({
      text: 'Both are sunny.',
      finishReason: 'stop',
      calls: [
        { name: 'weather', status: 'success' },
        { name: 'weather', status: 'success' },
      ],
    });
    const [first, second] = model.seen.slice(-2);
    expect(first?.body.tools.map((one: { function: { name: string } }) => one.function.name)).toEqual(['weather']);
    expect(JSON.stringify(second?.body)).toMatch(/sunny in Oslo.*sunny in Bern/);
    // Each is a call within the call of the plugin, and on record as such.
    const { items } = small.parts.executions.list({ tool: 'weather', limit: 2 }, operator);
    const [above] = small.parts.executions.list({ tool, limit: 1 }, operator).items;
    expect(items.map(({ parent }) => parent)).toEqual([above?.id, above?.id]);
  });

  it('asks a person where a tool needs one, and goes on with the answer', async () => {
    const end = small.parts.events.subscribe({ types: ['approval-request'] }, (event) => {
      if (event.type !== 'approval-request') return;
      const { approval } = event.data;
      const person = { id: 'local', role: 'admin' as const, mayAnswer: true, isPerson: true };
      setImmediate(() => small.parts.approvals.answer(approval, 'approved', person));
    });
    model.next((_request, response) => sendParts(response, [ask('wipe', 'w', { disk: 'C' })]));
    model.next((_request, response) => sendParts(response, [say('Done.')]));
    expect(await run('asks', { prompt: 'Wipe it', tools: ['wipe', 'weather'] })).toMatchObject({ text: 'Done.' });
    end();
    expect(JSON.stringify(model.seen.at(-1)?.body)).toContain('wiped C');
  });

  it('lets the model read what went wrong: a failure, a tool that was not named, a plugin that would call itself', async () => {
    const calls = [ask('fails', 'f', {}), ask('wipe', 'w', { disk: 'C' }), ask('asks', 'x', { request: 'again' })];
    model.next((_request, response) => sendParts(response, calls));
    model.next((_request, response) => sendParts(response, [say('It did not work.')]));
    const answer = await run('asks', { prompt: 'Try', tools: ['fails', 'asks'] });
    expect(answer.calls).toEqual([
      { name: 'fails', status: 'error' },
      { name: 'wipe', status: 'refused' },
      { name: 'asks', status: 'error' },
    ]);
    const told = JSON.stringify(model.seen.at(-1)?.body);
    expect(told).toContain('broken');
    expect(told).toContain('There is no tool \\"wipe\\"');
    expect(told).toContain('(call-cycle)');
  });

  it.each([[[]], [['weather']]])('answers a model that calls what it was not given: tools %j', async (tools) => {
    model.next((_request, response) => sendParts(response, [ask('wipe', 'w', { disk: 'C' })]));
    model.next((_request, response) => sendParts(response, [say('Then I cannot.')]));
    expect(await run('asks', { prompt: 'Wipe it', tools })).toMatchObject({
      text: 'Then I cannot.',
      finishReason: 'stop',
      calls: [{ name: 'wipe', status: 'refused' }],
    });
    expect(model.seen.at(-1)?.body.tools?.length ?? 0).toBe(tools.length);
  });

  it('names the granted tools that are near a misspelt one, in every way to ask for it', async () => {
    const before = model.seen.length;
    const near = { code: 'permission-denied', message: expect.stringContaining('Did you mean "weather"?') };
    expect(await run('asks', { prompt: 'Hi', tools: ['wether'] })).toMatchObject(near);
    expect((await run('calls', 'wether')).message).toMatch(/Did you mean "weather"\? Correct the name, or: .*tools=wether/);
    expect(await run('asks', { prompt: 'Hi', tools: ['wheather'] })).toMatchObject({
      code: 'tool-unknown',
      message: expect.stringContaining('Did you mean "weather"?'),
    });
    // What it was not granted it does not learn of.
    expect((await run('alone', { prompt: 'Hi', tools: ['wether'] })).message).not.toContain('weather');
    expect((await run('asks', { prompt: 'Hi', tools: ['callz'] })).message).not.toContain('Did you mean');
    expect(model.seen.length).toBe(before);
  });

  it('ends where a loop ends', async () => {
    model.always((_request, response) => sendParts(response, [ask('weather', 'same', { city: 'Oslo' })]));
    expect(await run('asks', { prompt: 'Go on', tools: ['weather'] })).toMatchObject({ finishReason: 'max-rounds' });
  });

  it('sets every round aside in the budget of the plugin', async () => {
    const before = model.seen.length;
    model.always((_request, response) => sendParts(response, [ask('weather', 'same', { city: 'x'.repeat(1500) })]));
    expect(await run('poor', { prompt: 'Go on', maxTokens: 1000, tools: ['weather'] })).toMatchObject({ code: 'quota-exceeded' });
    expect(model.seen.length - before).toBeGreaterThan(0);
    expect(model.seen.length - before).toBeLessThan(4);
  });

  it('is refused for tools that the plugin was not granted, or that are not there', async () => {
    const before = model.seen.length;
    expect(await run('alone', { prompt: 'Hi', tools: ['weather'] })).toMatchObject({
      code: 'permission-denied',
      message: expect.stringContaining('weather'),
    });
    expect((await run('asks', { prompt: 'Hi', tools: ['weather', 'nowhere'] })).code).toBe('tool-unknown');
    // A version that is not there reads as a call of it does.
    const noVersion = { code: 'tool-unknown', message: expect.stringContaining('No version of the tool "weather" fits "9"') };
    expect(await run('asks', { prompt: 'Hi', tools: ['weather@9'] })).toMatchObject(noVersion);
    expect(await run('calls', 'weather@9')).toMatchObject(noVersion);
    expect(model.seen.length).toBe(before);
  });
});
