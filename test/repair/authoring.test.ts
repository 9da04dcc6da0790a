import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Settings } from '../../src/config/schema.ts';
import { openGateway } from '../gateway/gateway-house.ts';
import { sendJson } from '../gateway/provider-server.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const tools: Settings = { builtins: { tools: ['create_custom_skill', 'tweak_skill', 'self_repair_skill'] } };
const doubling = { name: 'double', description: 'Doubles.', code: '    return String(2 * args.n);' };
const eve = { id: 'key_eve', role: 'caller' } as const;

async function start(plugins: Record<string, string> = {}, settings: Settings = {}) {
  const house = await startSmallDaemon(plugins, { ...tools, ...settings });
  onTestFinished(house.close);
  const fileOf = (name: string) => join(house.folder, 'plugins', name);
  return Object.assign(house, { fileOf });
}

interface Answer {
  readonly repair: string;
  readonly state: string;
}
const readAnswer = ({ output }: { output?: unknown }) => output as Answer;

describe('create_custom_skill', () => {
  it('keeps a new plugin as a proposal until a person applies it', async () => {
    const { call, parts, fileOf } = await start();
    const answer = readAnswer(await call('create_custom_skill', doubling, { caller: eve }));
    expect(answer.state).toBe('proposed');
    expect(existsSync(fileOf('double.ts'))).toBe(false);
    expect(parts.repairs.get(answer.repair)).toMatchObject({ class: 'creation', author: 'model' });
    expect(await parts.repairs.apply(answer.repair, 'local')).toMatchObject({ state: 'applied' });
    expect(await call('double', { n: 4 })).toMatchObject({ output: '8' });
    expect(await parts.repairs.rollback(answer.repair, 'local')).toMatchObject({ state: 'rolled-back' });
    expect(existsSync(fileOf('double.ts'))).toBe(false);
  });

  it('does not take back what a person edited since', async () => {
    const { call, parts, fileOf } = await start();
    const { repair } = readAnswer(await call('create_custom_skill', doubling));
    await parts.repairs.apply(repair, 'local');
    writeFileSync(fileOf('double.ts'), '// of a person\n');
    await expect(parts.repairs.rollback(repair, 'local')).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(fileOf('double.ts'), 'utf8')).toBe('// of a person\n');
  });

  it('refuses what does not load, a name that is taken, and one proposal too many', async () => {
    const { call } = await start({ 'taken.ts': 'export default { handler: async () => 1 };\n' }, { repair: { maxProposals: 1 } });
    expect((await call('create_custom_skill', { ...doubling, code: 'return (;' })).error?.code).toBe('compile-failed');
    expect((await call('create_custom_skill', { ...doubling, name: 'taken' })).error?.code).toBe('conflict');
    await call('create_custom_skill', doubling);
    expect((await call('create_custom_skill', { ...doubling, name: 'other' })).error?.code).toBe('queue-full');
  });

  it('tells what the plugin could reach, and never writes that by itself', async () => {
    const { call, parts, fileOf } = await start({}, { repair: { create: 'auto' } });
    const code = "return (await context.fetch('https://evil.example/')).text();";
    const asking = readAnswer(await call('create_custom_skill', { ...doubling, name: 'asking', code }));
    expect(asking.state).toBe('proposed');
    expect(parts.repairs.get(asking.repair).proposal?.asks).toContain('the host evil.example');
    const plain = readAnswer(await call('create_custom_skill', doubling));
    expect(plain.state).toBe('applied');
    expect(existsSync(fileOf('double.ts'))).toBe(true);
    expect(parts.plugins.get('double').author).toBe('model');
  });

  it('asked for many times at once makes no more proposals than there is room for', async () => {
    const { call, parts } = await start({}, { repair: { maxProposals: 2 } });
    const asked = Array.from({ length: 5 }, (_, each) => call('create_custom_skill', { ...doubling, name: `double${each}` }));
    const answers = await Promise.all(asked);
    expect(answers.filter(({ error }) => error?.code === 'queue-full')).toHaveLength(3);
    expect(parts.repairs.list({ state: 'proposed', limit: 10 })).toHaveLength(2);
  });

  it('counts what the model used for plugins of any name, and is not written beyond a day of it', async () => {
    const house = await openGateway({}, { ...tools, repair: { model: 'chat/m-1', tokensPerDay: 1000 } });
    onTestFinished(house.close);
    const message = { role: 'assistant', content: 'I would rather not.' };
    const usage = { prompt_tokens: 400, completion_tokens: 200, total_tokens: 600 };
    house.provider.always((_request, response) =>
      sendJson(response, { id: 'c', model: 'm-1', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
    );
    const wishes = ['one', 'two', 'three'].map((name) => house.call('create_custom_skill', { name, description: 'Doubles.' }));
    const codes = (await Promise.all(wishes)).map(({ error }) => error?.code);
    expect(codes).toEqual(['model-budget-exceeded', 'model-budget-exceeded', 'model-budget-exceeded']);
    expect(house.provider.seen).toHaveLength(2);
    expect(house.parts.repairs.list({ limit: 10 })).toMatchObject([{ state: 'given-up', tokens: 1200, plugin: 'one' }]);
  });

  it('is refused where the config says off', async () => {
    const { call } = await start({}, { repair: { create: 'off' } });
    expect((await call('create_custom_skill', doubling)).error?.code).toBe('tools-disabled');
  });
});

describe('tweak_skill', () => {
  it('proposes a change of a plugin that is well, and touches nothing', async () => {
    const text = "export default { description: 'A.', examples: [{ args: {}, expect: 'one' }], handler: async () => 'one' };\n";
    const { call, parts, fileOf } = await start({ 'hello.ts': text });
    const blocks = `<<<<<<< WHOLE hello.ts\n${text.replace("'A.'", "'B.'")}>>>>>>> END`;
    const answer = readAnswer(await call('tweak_skill', { plugin: 'hello', blocks, note: 'Another description.' }));
    expect(answer.state).toBe('proposed');
    expect(readFileSync(fileOf('hello.ts'), 'utf8')).toBe(text);
    expect(parts.plugins.get('hello')).toMatchObject({ state: 'ready', generation: 1 });
    await parts.repairs.apply(answer.repair, 'local');
    expect(parts.plugins.get('hello').description).toBe('B.');
  });
});

describe('self_repair_skill', () => {
  it('repairs what failed, and says that nothing is wrong with what did not', async () => {
    const { call } = await start({ 'well.ts': 'export default { handler: async () => 1 };\n' });
    expect((await call('self_repair_skill', { plugin: 'well' })).error?.code).toBe('conflict');
  });
});
