import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Settings } from '../../src/config/schema.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { callTool, type Said, startScriptedModel } from './model/scripted-model.ts';

const greeting = `export default {
  description: 'Greets people.',
  examples: [{ args: { name: 'ann' }, expect: 'Hello 3' }],
  handler: async (args: { name: string }) => {
    const people = [{ name: 'ann' }, { name: 'bob' }];
    const person = people.find(({ name }) => name === args.name);
    return 'Hello ' + person.name.length;
  },
};
`;
/** No type tells that it may be missing, so no fixer does. */
const untyped = greeting.replace('const person =', 'const person: any =');

/** A call goes well, the next one ends with a `TypeError`; answers the repair that waits for a person. */
async function failInCall(text: string, settings: Settings = {}) {
  const small = await startSmallDaemon({ 'greet.ts': text }, settings);
  onTestFinished(small.close);
  const { parts, call, folder } = small;
  expect(await call('greet', { name: 'bob' })).toMatchObject({ output: 'Hello 3' });
  expect(await call('greet', { name: 'eve' })).toMatchObject({ status: 'error', error: { name: 'TypeError' } });
  const repair = await until(() => parts.repairs.list({ limit: 1, state: 'proposed' })[0], 'a proposal');
  expect(readFileSync(join(folder, 'plugins', 'greet.ts'), 'utf8')).toBe(text);
  expect(parts.plugins.get('greet')).toMatchObject({ state: 'ready', generation: 1, author: 'operator' });
  expect(repair).toMatchObject({ class: 'runtime-error' });
  expect(repair.attempts.at(-1)?.outcome).toBe('mended');
  return { ...small, repair };
}

describe('a call whose failure starts no repair', () => {
  it('says why, to who asks, until the file is saved', async () => {
    const text = `export default {
  description: 'Sells.',
  permissions: { net: ['127.0.0.1'] },
  handler: async ({ n }: { n: number }, context) => {
    if (n < 0) return (await context.fetch('http://127.0.0.1:1/')).status;
    throw new Error('no stock for ' + n);
  },
};
`;
    const { parts, daemon, call, folder, close } = await startSmallDaemon({ 'sell.ts': text }, { grantRequested: true });
    onTestFinished(close);
    const operation = daemon.operations.find(({ name }) => name === pluginContracts.why.name);
    const signal = new AbortController().signal;
    const why = () => operation?.handle({ name: 'sell' }, { caller: { id: 'local', role: 'admin' }, signal });
    const told = (words: string) => until(async () => JSON.stringify(await why()).includes(words) || undefined, words);
    expect(await call('sell', { n: -1 })).toMatchObject({ status: 'error' });
    await told('and no repair starts. ');
    expect(await why()).toMatchObject({ state: 'ready', repair: { state: 'not-started' } });
    expect(await call('sell', { n: 1 })).toMatchObject({ status: 'error' });
    await told('once so far');
    expect(parts.repairs.list({ limit: 5 })).toEqual([]);
    expect(await parts.repairs.begin('sell', true)).toMatchObject({ state: 'given-up', class: 'runtime-error' });
    expect(await why()).toMatchObject({ repair: { state: 'given-up' } });
    writeFileSync(join(folder, 'plugins', 'sell.ts'), text.replace('Sells.', 'Sells things.'));
    await until(async () => !('repair' in Object(await why())) || undefined, 'nothing more to tell');
  });
});

describe('a call that ends with a TypeError', () => {
  it('is mended by a fixer that only guesses, as a proposal, which a person applies', async () => {
    const { repair, parts, call } = await failInCall(greeting);
    expect(repair.proposal).toMatchObject({ author: 'repair', sureness: 'maybe' });
    expect(repair.proposal?.diff).toContain('person?.name');
    expect(await parts.repairs.apply(repair.id, 'local')).toMatchObject({ state: 'applied' });
    expect(await call('greet', { name: 'eve' })).toMatchObject({ status: 'success' });
    expect(await call('greet', { name: 'bob' })).toMatchObject({ output: 'Hello 3' });
    expect(parts.plugins.get('greet')).toMatchObject({ author: 'operator' });
  });

  it('is mended by the model where no fixer knows, measured by the calls that went well', async () => {
    const model = await startScriptedModel('anthropic');
    onTestFinished(model.close);
    const patch = (now: string): Said =>
      callTool('try_proposal', {
        blocks: `<<<<<<< SEARCH greet.ts\n    return 'Hello ' + person.name.length;\n=======\n    ${now}\n>>>>>>> REPLACE`,
      });
    model.say(
      patch("return 'Hello ' + (person?.name.length ?? 0) + '!';"),
      patch("return 'Hello ' + (person?.name.length ?? 0);"),
    );
    const settings = { ...model.settings, repair: { model: 'anthropic/m' } };
    const { repair } = await failInCall(untyped, settings);
    expect(repair.proposal).toMatchObject({ author: 'model', asks: [] });
    expect(JSON.stringify(model.seen[1]?.body.messages)).toContain('examples: failed');
  });
});
