import { createServer, type IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import type { Settings } from '../../../src/config/schema.ts';
import { grantContracts } from '../../../src/operations/contracts/access/grants.ts';
import { secretContracts } from '../../../src/operations/contracts/access/secrets.ts';
import { toolContracts } from '../../../src/operations/contracts/tools.ts';
import { openIdentityHouse, operator } from '../../promises/identity-house.ts';

const model: Caller = { id: 'key_model', role: 'caller' };
const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const plugins = {
  'plugins/greet.ts': `export default { version: '1.2.0', description: 'Greets.',
    handler: ({ name, loud = false }: { name: string; loud?: boolean }) => 'hello ' + (loud ? name.toUpperCase() : name) };`,
  'plugins/wipe.ts': `export default { description: 'Wipes.', isElevated: true, handler: () => 'wiped' };`,
};

async function openHouse(settings: Settings = {}) {
  const house = openIdentityHouse(plugins, settings);
  await house.start();
  return house;
}

interface Seen {
  readonly url: string | undefined;
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A service of the operator on this machine that answers by the path. */
async function openService() {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { url, method, headers } = request;
    seen.push({ url, method, headers, body });
    const json = { 'content-type': 'application/json' };
    if (url?.startsWith('/fails')) return void response.writeHead(500).end('the database is away');
    if (url?.startsWith('/moved')) return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    if (url?.startsWith('/long')) return void response.writeHead(200, json).end(JSON.stringify('x'.repeat(3_000_000)));
    if (url?.startsWith('/large')) return void response.writeHead(200, json).end(JSON.stringify('x'.repeat(500_000)));
    if (url?.startsWith('/broken')) return void response.writeHead(200, json).end('{');
    if (url?.startsWith('/text')) return void response.writeHead(200).end('plain');
    response
      .writeHead(200, json)
      .end(JSON.stringify({ reversed: [...(JSON.parse(body || '{}').text ?? '')].reverse().join('') }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { seen, port, url: `http://127.0.0.1:${port}` };
}

const reverse = (url: string) => ({
  name: 'reverse-text',
  version: '1.0.0',
  description: 'Reverses a text.',
  schema: { input, output: { type: 'object', properties: { reversed: { type: 'string' } } } },
  handler: { url },
});

describe('tools.register', () => {
  it('makes a service a tool, once its host is granted, and keeps both over restarts', async () => {
    const house = await openHouse();
    const { url, port, seen } = await openService();
    const view = await house.invoke(toolContracts.register, reverse(url));
    expect(view).toMatchObject({ ref: 'reverse-text@1.0.0', source: 'registered', input, mode: 'on' });
    const denied = await house.call('reverse-text', { text: 'abc' });
    expect(denied.error).toMatchObject({ code: 'permission-denied', message: expect.stringContaining(`net=127.0.0.1:${port}`) });
    expect(seen).toEqual([]);
    await house.invoke(grantContracts.create, { plugin: 'registered:reverse-text', permissions: { net: [`127.0.0.1:${port}`] } });
    expect(await house.call('reverse-text', { text: 'abc' }, model)).toMatchObject({ output: { reversed: 'cba' } });
    expect(seen[0]).toMatchObject({ method: 'POST', body: '{"text":"abc"}' });
    await expect(house.call('reverse-text', {}, model)).rejects.toMatchObject({ code: 'arguments-invalid' });
    await house.restart();
    expect((await house.call('reverse-text@^1', { text: 'xyz' })).output).toEqual({ reversed: 'zyx' });
  });

  it('puts a secret in where it is bound, and nowhere else', async () => {
    const house = await openHouse({ grantRequested: true });
    const { url, seen } = await openService();
    await house.invoke(secretContracts.set, {
      name: 'CRM_KEY',
      value: 'the s3cret value',
      hosts: ['127.0.0.1'],
      header: 'authorization',
    });
    const handler = { url: `${url}/text`, headers: { Authorization: `Bearer $\{secret:CRM_KEY}` } };
    await house.invoke(toolContracts.register, { ...reverse(url), schema: { input }, handler });
    const answer = await house.call('reverse-text', { text: 'a' }, model);
    expect(answer.output).toBe('plain');
    expect(seen[0]?.headers.authorization).toBe('Bearer the s3cret value');
    const elsewhere = { ...handler, headers: { 'x-other': `$\{secret:CRM_KEY}` } };
    await house.invoke(toolContracts.register, { ...reverse(url), schema: { input }, handler: elsewhere, replace: true });
    expect((await house.call('reverse-text', { text: 'a' }, model)).error?.code).toBe('secret-misplaced');
    const unknown = { ...handler, headers: { 'x-other': `$\{secret:NO_SUCH}` } };
    await house.invoke(toolContracts.register, { ...reverse(url), schema: { input }, handler: unknown, replace: true });
    expect((await house.call('reverse-text', { text: 'a' }, model)).error?.code).toBe('secret-misplaced');
    expect(seen).toHaveLength(1);
    expect(JSON.stringify(await house.invoke(toolContracts.get, { ref: 'reverse-text' }, model))).not.toContain('CRM_KEY');
  });

  it('tells what a service does wrong, reads long answers, and follows nothing elsewhere', async () => {
    const house = await openHouse({ grantRequested: true });
    const { url } = await openService();
    const answerOf = async (path: string, method: 'GET' | 'POST' = 'POST') => {
      const definition = { ...reverse(url), schema: {}, handler: { url: url + path, method }, replace: true };
      await house.invoke(toolContracts.register, definition);
      const { output, error } = await house.call('reverse-text', { text: 'a b', list: [1] }, model);
      return error?.code ?? output;
    };
    expect(await answerOf('/fails')).toBe('service-failed');
    expect(await answerOf('/broken')).toBe('service-failed');
    expect(await answerOf('/moved')).toBe('network-failed');
    expect(await answerOf('/long')).toBe('output-exceeded');
    expect(String(await answerOf('/large'))).toHaveLength(500_000);
    expect(await answerOf('/text?a=1', 'GET')).toBe('plain');
  });

  it('gives a tool another name with fixed arguments, and no more rights than its caller has', async () => {
    const house = await openHouse();
    const shout = { name: 'shout', description: 'Greets loudly.', handler: { tool: 'greet', arguments: { loud: true } } };
    const view = await house.invoke(toolContracts.register, shout);
    expect(view.input).toMatchObject({ properties: { name: {} }, required: ['name'] });
    expect(Object.keys(Object(view.input.properties))).toEqual(['name']);
    const answer = await house.call('shout', { name: 'Ada' }, model);
    expect(answer.output).toBe('hello ADA');
    expect(house.parts().executions.list({ parent: answer.executionId }, model).items).toMatchObject([{ tool: 'greet' }]);
    await expect(house.call('shout', { name: 'Ada', loud: false }, model)).rejects.toMatchObject({ code: 'arguments-invalid' });
    await house.invoke(toolContracts.register, { name: 'clean', description: 'Wipes.', handler: 'wipe' });
    expect((await house.call('clean', {}, model)).error?.code).toBe('forbidden');
    expect((await house.call('clean', {})).output).toBe('wiped');
    const narrow = await house.key('caller', operator, { tools: ['shout'] });
    expect((await house.call('shout', { name: 'Ada' }, narrow)).error?.code).toBe('tool-unknown');
    expect(
      (
        await house
          .invoke(toolContracts.call, { ref: 'shout', arguments: { name: 'A' }, builtinsOnly: true })
          .catch((error) => error)
      ).code,
    ).toBe('tools-disabled');
  });

  it('does not go round in a circle', async () => {
    const house = await openHouse();
    await house.invoke(toolContracts.register, { name: 'one', description: 'One.', handler: 'greet' });
    await house.invoke(toolContracts.register, { name: 'two', description: 'Two.', handler: 'one' });
    await house.invoke(toolContracts.register, {
      name: 'one',
      description: 'One.',
      schema: { input: {} },
      handler: 'two',
      replace: true,
    });
    expect((await house.call('one', { name: 'x' }, model)).error?.code).toBe('call-cycle');
    await house.invoke(toolContracts.register, { name: 'all', description: 'All.', handler: 'call_tool' });
    expect((await house.call('all', { name: 'greet', arguments: { name: 'x' } }, model)).error?.code).toBe('not-supported');
  });

  it.each([
    ['the name of a built-in tool', { name: 'call_tool' }, 'tool-duplicate'],
    ['the name of a built-in tool that is off', { name: 'eval_code' }, 'tool-duplicate'],
    ['the name of a plugin', { name: 'greet', version: '9.9.9' }, 'tool-duplicate'],
    ['a handler that nobody knows', { handler: 'echo-handler' }, 'tool-unknown'],
    ['code as a handler', { handler: '() => process.exit()' }, 'tool-unknown'],
    ['itself as a handler', { handler: 'mine' }, 'tool-unknown'],
    ['a name with a path', { name: '../../etc' }, 'body-invalid'],
    ['a version that is none', { version: 'latest' }, 'body-invalid'],
    ['a URL of a file', { handler: { url: 'file:///etc/passwd' } }, 'body-invalid'],
    ['a URL with user-info', { handler: { url: 'https://a:b@example.com/' } }, 'body-invalid'],
    ['no URL', { handler: { url: 'not a url' } }, 'body-invalid'],
    ['a schema that is too long', { schema: { input: { description: 'x'.repeat(300_000) } } }, 'body-invalid'],
  ])('refuses %s', async (_what, more, code) => {
    const house = await openHouse();
    const definition = { name: 'mine', description: 'Mine.', handler: { url: 'https://api.example.com/' }, ...more };
    const before = house.parts().tools.list().length;
    await expect(house.invoke(toolContracts.register, definition)).rejects.toMatchObject({ code });
    expect(house.parts().tools.list()).toHaveLength(before);
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]:7420/api/keys',
    'http://localhost:7420/',
    'http://metadata.google.internal/',
  ])('reaches %s for nobody that was granted nothing, or a host that only resolves to it', async (url) => {
    const house = await openHouse();
    const admin = await house.key('admin');
    await house.invoke(toolContracts.register, { name: 'mine', description: 'Mine.', handler: { url, method: 'GET' } }, admin);
    expect((await house.call('mine', {}, admin)).error?.code).toBe('permission-denied');
  });

  it('is for admins, and so is the way back', async () => {
    const house = await openHouse();
    const definition = { name: 'mine', description: 'Mine.', handler: 'greet' };
    await expect(house.invoke(toolContracts.register, definition, model)).rejects.toMatchObject({ code: 'forbidden' });
    await house.invoke(toolContracts.register, definition);
    await expect(house.invoke(toolContracts.unregister, { ref: 'mine' }, model)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(house.invoke(toolContracts.register, definition)).rejects.toMatchObject({ code: 'tool-duplicate' });
    await expect(house.invoke(toolContracts.unregister, { ref: 'greet' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(house.invoke(toolContracts.unregister, { ref: 'call_tool' })).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('tools.unregister', () => {
  it('takes the tool, its settings and its grants, and frees the name', async () => {
    const house = await openHouse();
    const { url, port } = await openService();
    const grant = { plugin: 'registered:reverse-text', permissions: { net: [`127.0.0.1:${port}`] } };
    await house.invoke(toolContracts.register, reverse(url));
    await house.invoke(grantContracts.create, grant);
    await house.invoke(toolContracts.update, { ref: 'reverse-text', mode: 'off' });
    expect(await house.invoke(toolContracts.unregister, { ref: 'reverse-text' })).toEqual({ ref: 'reverse-text@1.0.0' });
    await expect(house.call('reverse-text', { text: 'a' })).rejects.toMatchObject({ code: 'tool-unknown' });
    await house.restart();
    await expect(house.call('reverse-text', { text: 'a' })).rejects.toMatchObject({ code: 'tool-unknown' });
    await house.invoke(toolContracts.register, reverse(url));
    expect(await house.invoke(toolContracts.get, { ref: 'reverse-text' })).toMatchObject({ mode: 'on' });
    expect((await house.call('reverse-text', { text: 'a' })).error?.code).toBe('permission-denied');
    await house.invoke(toolContracts.unregister, { ref: 'reverse-text' });
    house.write(
      'plugins/r.ts',
      `export default { name: 'reverse-text', description: 'Of a plugin.', handler: () => 'mine now' };`,
    );
    await house.settled('plugins/r.ts', ({ state }) => state === 'ready');
    expect((await house.call('reverse-text')).output).toBe('mine now');
  });
});
