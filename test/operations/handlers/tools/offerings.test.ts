import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../../src/callers/caller.ts';
import { prepareOperations } from '../../../../src/operations/invoke.ts';
import { startSmallDaemon } from '../../../small-daemon.ts';

const notes = `export default {
  name: 'notes', version: '1.0.0',
  prompts: {
    review: {
      title: 'Review code',
      description: 'Asks for a review.',
      arguments: {
        code: { description: 'What to review', required: true },
        language: { complete: ['typescript', 'python', 'TOML'] },
        style: { complete: (value, context) => [value + '-' + (context.language ?? 'none')] },
      },
      handler: async ({ code, language = 'any' }, context) => {
        context.log.info('asked by ' + context.caller.id);
        return 'Review this ' + language + ': ' + code;
      },
    },
    talk: {
      arguments: [{ name: 'topic', required: false, complete: () => ['a', 'b'] }],
      handler: () => ({ description: 'A talk', messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [{ type: 'text', text: 'Yes?' }, { type: 'image', mediaType: 'image/png', data: 'AA==' }] },
        'More',
      ] }),
    },
    odd: { handler: () => 42 },
  },
  resources: {
    all: { uri: 'notes://all', title: 'All notes', mimeType: 'text/markdown', size: 5, read: () => '# All' },
    one: {
      uriTemplate: 'notes://{folder}/{id}',
      complete: { id: (value, { folder }) => [folder + value], folder: ['home', 'work'] },
      read: ({ folder, id }) => ({ text: folder + '+' + id, mimeType: 'text/plain' }),
    },
    pinned: { uriTemplate: 'notes://pinned/{id}', read: ({ id }) => ['pin ' + id, { blob: 'AAE=', uri: 'notes://pinned/raw' }] },
    bytes: { uri: 'notes://bytes', read: () => new Uint8Array([0, 255, 1]) },
  },
};`;

const operator: Caller = { id: 'local', role: 'admin' };
let house: Awaited<ReturnType<typeof startSmallDaemon>>;

async function invoke(name: string, input: unknown, caller: Caller = operator): Promise<unknown> {
  const operation = prepareOperations(house.daemon.operations).get(name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  return operation.invoke(input, { caller, signal: new AbortController().signal });
}

/** Saves a plugin, and resolves with the truth about it once it is loaded. */
async function save(name: string, text: string): Promise<unknown> {
  writeFileSync(join(house.folder, 'plugins', `${name}.js`), text);
  const isSeen = async () => house.parts.plugins.list().some((plugin) => plugin.path.endsWith(`/${name}.js`));
  await expect.poll(isSeen, { timeout: 10_000 }).toBe(true);
  return invoke('plugins.reload', { name });
}

beforeAll(async () => {
  house = await startSmallDaemon({ 'notes.ts': notes });
});
afterAll(() => house.close());

describe('prompts.list', () => {
  it('shows the prompts of plugins, in order of their names', async () => {
    expect(await invoke('prompts.list', { limit: 2 })).toEqual({
      items: [
        { name: 'odd', plugin: 'notes', arguments: [] },
        {
          name: 'review',
          plugin: 'notes',
          title: 'Review code',
          description: 'Asks for a review.',
          arguments: [{ name: 'code', description: 'What to review', required: true }, { name: 'language' }, { name: 'style' }],
        },
      ],
      next: 'review',
      total: 3,
    });
    expect(await invoke('prompts.list', { q: 'TALK' })).toMatchObject({ total: 1, items: [{ name: 'talk' }] });
  });

  it('leaves tools alone, which no prompt is', async () => {
    expect(await invoke('tools.list', { plugin: 'notes' })).toMatchObject({ items: [] });
    for (const ref of ['review', 'prompt:review', 'prompt:review@1.0.0', 'resource:all', 'complete:prompt:review:style']) {
      await expect(invoke('tools.call', { ref })).rejects.toMatchObject({ code: 'tool-unknown' });
    }
  });
});

describe('prompts.get', () => {
  it('makes messages of a text', async () => {
    expect(await invoke('prompts.get', { name: 'review', arguments: { code: 'a++', language: 'C' } })).toMatchObject({
      status: 'success',
      executionId: expect.stringContaining('exe_'),
      output: { messages: [{ role: 'user', content: { type: 'text', text: 'Review this C: a++' } }] },
    });
  });

  it('gives every part a message of its own', async () => {
    expect(await invoke('prompts.get', { name: 'talk' })).toMatchObject({
      output: {
        description: 'A talk',
        messages: [
          { role: 'user', content: { type: 'text', text: 'Hello' } },
          { role: 'assistant', content: { type: 'text', text: 'Yes?' } },
          { role: 'assistant', content: { type: 'image', mediaType: 'image/png' } },
          { role: 'user', content: { type: 'text', text: 'More' } },
        ],
      },
    });
  });

  it('refuses what lacks an argument, what is no prompt and what returns something else', async () => {
    await expect(invoke('prompts.get', { name: 'review' })).rejects.toMatchObject({ code: 'arguments-invalid' });
    await expect(invoke('prompts.get', { name: 'review', arguments: { code: 1 } })).rejects.toMatchObject({
      code: 'body-invalid',
    });
    await expect(invoke('prompts.get', { name: 'reveiw' })).rejects.toMatchObject({
      code: 'prompt-unknown',
      message: 'There is no prompt "reveiw". Did you mean "review"?',
    });
    expect(await invoke('prompts.get', { name: 'odd' })).toMatchObject({ status: 'error', error: { code: 'output-invalid' } });
  });

  it('is recorded like a call', async () => {
    expect(await invoke('executions.list', { tool: 'prompt:talk', limit: 1 })).toMatchObject({
      items: [{ tool: 'prompt:talk', plugin: 'notes', status: 'success' }],
    });
  });
});

describe('resources.read', () => {
  it('reads text and bytes', async () => {
    expect(await invoke('resources.read', { uri: 'notes://all' })).toMatchObject({
      output: { contents: [{ uri: 'notes://all', mimeType: 'text/markdown', text: '# All' }] },
    });
    expect(await invoke('resources.read', { uri: 'notes://bytes' })).toMatchObject({
      output: { contents: [{ uri: 'notes://bytes', mimeType: 'application/octet-stream', blob: 'AP8B' }] },
    });
  });

  it('takes the more exact template', async () => {
    expect(await invoke('resources.read', { uri: 'notes://home/a%20b' })).toMatchObject({
      output: { contents: [{ uri: 'notes://home/a%20b', mimeType: 'text/plain', text: 'home+a b' }] },
    });
    expect(await invoke('resources.read', { uri: 'notes://pinned/7' })).toMatchObject({
      output: {
        contents: [
          { uri: 'notes://pinned/7', text: 'pin 7' },
          { uri: 'notes://pinned/raw', blob: 'AAE=' },
        ],
      },
    });
  });

  it('refuses other addresses', async () => {
    for (const uri of [
      'notes://none',
      'notes://a/b/c',
      'notes://home/%zz',
      'other://x',
      `notes://a/${'b'.repeat(2040)}`.slice(0, 2048),
    ]) {
      const reading = invoke('resources.read', { uri });
      if (uri.length < 2000) await expect(reading).rejects.toMatchObject({ code: 'resource-unknown' });
      else await reading;
    }
  });
});

describe('resources.list', () => {
  it('tells addresses and templates apart', async () => {
    expect(await invoke('resources.list', {})).toMatchObject({
      items: [{ uri: 'notes://all', name: 'all', title: 'All notes', size: 5 }, { uri: 'notes://bytes' }],
      total: 2,
    });
    expect(await invoke('resources.templates', {})).toMatchObject({
      items: [{ uriTemplate: 'notes://pinned/{id}' }, { uriTemplate: 'notes://{folder}/{id}', name: 'one' }],
    });
  });
});

describe('completions.complete', () => {
  it('knows the values of a list, and asks a function', async () => {
    const prompt = { type: 'prompt', name: 'review' };
    const complete = (ref: object, name: string, value: string, context = {}) =>
      invoke('completions.complete', { ref, argument: { name, value }, context });
    expect(await complete(prompt, 'language', 't')).toEqual({ values: ['typescript', 'TOML'], total: 2, hasMore: false });
    expect(await complete(prompt, 'style', 'x', { language: 'C' })).toMatchObject({ values: ['x-C'] });
    expect(await complete(prompt, 'code', 'x')).toMatchObject({ values: [] });
    expect(await complete(prompt, '__proto__', 'x')).toMatchObject({ values: [] });
    expect(await complete({ type: 'prompt', name: 'talk' }, 'topic', '')).toMatchObject({ values: ['a', 'b'] });
    const template = { type: 'resource', uri: 'notes://{folder}/{id}' };
    expect(await complete(template, 'id', '1', { folder: 'home' })).toMatchObject({ values: ['home1'] });
    expect(await complete(template, 'folder', 'w')).toMatchObject({ values: ['work'] });
    await expect(complete({ type: 'prompt', name: 'none' }, 'a', '')).rejects.toMatchObject({ code: 'prompt-unknown' });
  });
});

describe('what callers see', () => {
  const ann: Caller = { id: 'ann', role: 'caller', tools: ['rev*', 'one'] };

  it('follows the list of their keys', async () => {
    expect(await invoke('prompts.list', {}, ann)).toMatchObject({ items: [{ name: 'review' }], total: 1 });
    await expect(invoke('prompts.get', { name: 'talk' }, ann)).rejects.toMatchObject({ code: 'prompt-unknown' });
    await expect(invoke('resources.read', { uri: 'notes://all' }, ann)).rejects.toMatchObject({ code: 'resource-unknown' });
    expect(await invoke('resources.read', { uri: 'notes://pinned/7' }, ann)).toMatchObject({
      output: { contents: [{ text: 'pinned+7' }] },
    });
  });
});

describe('a plugin that changes', () => {
  it('brings its prompts and resources up to date, and tells of it', async () => {
    const changed = notes.replace('# All', '# More').replace('talk: {', 'chat: {');
    const seen = house.events.length;
    writeFileSync(join(house.folder, 'plugins', 'notes.ts'), changed);
    await invoke('plugins.reload', { name: 'notes' });
    expect(await invoke('resources.read', { uri: 'notes://all' })).toMatchObject({ output: { contents: [{ text: '# More' }] } });
    await new Promise((resolve) => setImmediate(resolve));
    const news = house.events.slice(seen);
    expect(news.find(({ type }) => type === 'prompts-change')?.data).toEqual({
      added: ['chat@1.0.0'],
      removed: ['talk@1.0.0'],
      changed: ['review@1.0.0', 'odd@1.0.0'],
    });
    expect(news.filter(({ type }) => type === 'resource-update').map(({ data }) => data)).toContainEqual({
      uri: 'notes://all',
      name: 'all',
    });
    expect(await invoke('plugins.get', { name: 'notes' })).toMatchObject({ prompts: ['review', 'chat', 'odd'] });
    await invoke('plugins.update', { name: 'notes', enabled: false });
    expect(await invoke('prompts.list', {})).toMatchObject({ total: 0 });
    expect(await invoke('resources.templates', {})).toMatchObject({ total: 0 });
  });
});

describe('names and addresses', () => {
  it('belong to the first plugin that has them, and go on to the next when it is gone', async () => {
    const own = (version: string, text: string) => `export default { version: '${version}',
      prompts: { shared: { handler: () => '${text}' } }, resources: { it: { uri: 'shared://it', read: () => '${text}' } } };`;
    const text = async () => {
      const read = await invoke('resources.read', { uri: 'shared://it' });
      const got = await invoke('prompts.get', { name: 'shared' });
      return [read, got].map((answer) => JSON.stringify(answer).match(/"(first|second|third|later)"/)?.[1]);
    };
    await save('a_first', own('1.0.0', 'first'));
    await save('b_second', own('2.0.0', 'second'));
    expect(await text()).toEqual(['first', 'first']);
    expect(await invoke('plugins.get', { name: 'b_second' })).toMatchObject({
      state: 'ready',
      warnings: [
        expect.stringContaining('"shared" belongs to a_first.js'),
        expect.stringContaining('shared://it belongs to a_first.js'),
      ],
    });
    expect(await invoke('prompts.list', { q: 'shared' })).toMatchObject({ total: 1 });
    await expect(save('c_third', own('1.0.0', 'third'))).rejects.toMatchObject({
      message: expect.stringContaining('which had it first'),
    });
    await save('a_first', own('1.0.1', 'later'));
    expect(await text()).toEqual(['later', 'later']);
    await invoke('plugins.rollback', { name: 'a_first' });
    expect(await text()).toEqual(['first', 'first']);
    await invoke('plugins.remove', { name: 'a_first' });
    // Who waited for the name has it, and who came second has it when an operator says so.
    await expect.poll(text, { timeout: 10_000 }).toEqual(['third', 'third']);
    for (const name of ['prompt:shared', 'resource:shared://it']) await invoke('tools.own', { name, plugin: 'b_second' });
    expect(await text()).toEqual(['second', 'second']);
    await expect(invoke('tools.own', { name: 'prompt:none', plugin: 'b_second' })).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('context.resources.changed', () => {
  it('tells of resources of the plugin itself, and of no other', async () => {
    await save(
      'teller',
      `export default { tools: { tell: { description: 'Tells.', handler: ({ uri }, context) => context.resources.changed(uri) } },
        resources: { now: { uri: 'teller://now', read: () => 'now' }, day: { uriTemplate: 'teller://days/{day}', read: ({ day }) => day } } };`,
    );
    const seen = house.events.length;
    const tell = (uri: unknown) => invoke('tools.call', { ref: 'tell', arguments: { uri } });
    expect(await tell('teller://now')).toMatchObject({ status: 'success' });
    expect(await tell('teller://days/7')).toMatchObject({ status: 'success' });
    for (const uri of ['shared://it', 'teller://none', 'x'.repeat(5000), null]) {
      expect(await tell(uri)).toMatchObject({ status: 'error', error: { code: 'resource-unknown' } });
    }
    expect(house.events.slice(seen).flatMap(({ type, data }) => (type === 'resource-update' ? [data] : []))).toEqual([
      { uri: 'teller://now', name: 'now' },
      { uri: 'teller://days/7', name: 'day' },
    ]);
  });
});

describe('a prompt that needs a person or more', () => {
  it('waits for one, and is not there for who may not have it', async () => {
    await save(
      'careful',
      `export default { prompts: {
        danger: { isDangerous: true, handler: () => 'boom' }, admins: { isElevated: true, handler: () => 'secret' },
        off: { mode: 'off', handler: () => 'off' } } };`,
    );
    const ann: Caller = { id: 'ann', role: 'caller' };
    const anyone: Caller = { id: 'anonymous-1', role: 'caller', isAnonymous: true };
    await expect(invoke('prompts.get', { name: 'admins' }, ann)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(invoke('prompts.get', { name: 'admins' }, anyone)).rejects.toMatchObject({ code: 'prompt-unknown' });
    await expect(invoke('prompts.get', { name: 'off' })).rejects.toMatchObject({ code: 'prompt-unknown' });
    const getting = invoke('prompts.get', { name: 'danger' }, ann);
    await expect.poll(() => house.parts.approvals.count({ caller: 'ann', status: 'open' })).toBe(1);
    const [question] = house.parts.approvals.list({ caller: 'ann', status: 'open', limit: 1 });
    expect(question).toMatchObject({ kind: 'call', tool: 'prompt:danger' });
    await invoke('approvals.answer', { id: question?.id, answer: 'approve' });
    expect(await getting).toMatchObject({ status: 'success' });
  });
});
