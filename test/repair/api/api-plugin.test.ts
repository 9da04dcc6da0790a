import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findSource } from '../../../src/plugins/discovery/plugin-source.ts';
import { describeSource } from '../../../src/repair/api/describe-source.ts';
import { createDescriptionReader } from '../../../src/repair/api/description-reader.ts';
import { createPluginMaker } from '../../../src/repair/api/make-plugin.ts';
import { type Provider, sendJson, startProvider } from '../../gateway/provider-server.ts';
import { startSmallDaemon } from '../../small-daemon.ts';

const answers = { responses: { 200: { description: 'Fine.' } } };
const name = (place: string, more: object = {}) => ({ name: place, in: place, schema: { type: 'string' }, ...more });

/** A server that answers what it was asked, and the description of it. */
function describeApi(more: object = {}) {
  return {
    openapi: '3.1.0',
    info: { title: 'Echo', version: '1.0.0' },
    servers: [{ url: '/v1' }],
    security: [{ key: [] }],
    paths: {
      '/things/{path}/parts': {
        get: {
          operationId: 'read',
          parameters: [
            name('path', { required: true, example: 'one' }),
            name('header', { name: 'x-trace' }),
            name('cookie', { name: 'crumb' }),
            name('query', { name: 'tags', schema: { type: 'array', items: { type: 'string' } } }),
            name('query', { name: 'filter[]', explode: false, schema: { type: 'array', items: { type: 'string' } } }),
            name('query', { name: 'deep', style: 'deepObject', schema: { type: 'object' } }),
          ],
          ...answers,
        },
      },
      '/things': {
        post: {
          operationId: 'write',
          requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { a: { type: 'number' } } } } } },
          ...answers,
        },
        put: {
          operationId: 'form',
          security: [{ basic: [] }],
          requestBody: { content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } } },
          ...answers,
        },
      },
      '/missing': { get: { operationId: 'missing', security: [], ...answers } },
      ...more,
    },
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' }, basic: { type: 'http', scheme: 'basic' } },
    },
  };
}

describe('a plugin of an API', { timeout: 120_000 }, () => {
  let api: Provider;
  let house: Awaited<ReturnType<typeof startSmallDaemon>>;
  let description: object = describeApi();
  const fileOf = (file: string) => join(house.folder, 'plugins', file);
  const create = (plugin: string, source: string, isPublic = false) =>
    house.parts.authoring.create({ name: plugin, api: { source, isPublic } }, 'key_eve');

  beforeAll(async () => {
    api = await startProvider(({ path, headers, body }, response) => {
      if (path === '/openapi.json') sendJson(response, description);
      else if (path === '/moved') response.writeHead(302, { location: 'http://10.0.0.1/openapi.json' }).end();
      else if (path === '/huge') response.writeHead(200).end(Buffer.alloc(9 * 1024 * 1024, ' '));
      else if (path.endsWith('/missing')) sendJson(response, { why: 'gone' }, 404);
      else
        sendJson(response, {
          path,
          key: headers['x-api-key'],
          trace: headers['x-trace'],
          cookie: headers.cookie,
          authorization: headers.authorization,
          body,
        });
    });
    const host = api.url.replace('http://', '');
    house = await startSmallDaemon(
      {},
      {
        repair: { sources: [host] },
        env: { ECHO_KEY: 'k-1', ECHO_BASIC: 'ada:secret' },
        builtins: { tools: ['create_custom_skill'] },
      },
    );
  });
  afterAll(async () => {
    await house.close();
    await api.close();
  });

  it('waits for a person, then asks the API as its description says', async () => {
    const answer = await create('echo', `${api.url}/openapi.json`);
    expect(answer.state).toBe('proposed');
    expect(existsSync(fileOf('echo.ts'))).toBe(false);
    const { proposal, author } = house.parts.repairs.get(answer.repair);
    expect(author).toBe('repair');
    expect(proposal?.asks[0]).toContain(`net=${api.url.replace('http://', '')}`);
    expect(proposal?.note).toContain('hotcell secret set ECHO_KEY');
    await house.parts.repairs.apply(answer.repair, 'local');
    expect(house.parts.plugins.get('echo')).toMatchObject({ state: 'ready', author: 'operator' });

    const args = { path: 'a/b ?#', 'x-trace': 't', crumb: 'c;d', tags: ['x', 'y&z'], filter_: ['1', '2'], deep: { a: '1' } };
    const { output, error } = await house.call('echo_read', args);
    expect(error).toBeUndefined();
    expect(output).toEqual({
      path: '/v1/things/a%2Fb%20%3F%23/parts?tags=x&tags=y%26z&filter%5B%5D=1%2C2&deep%5Ba%5D=1',
      key: 'k-1',
      trace: 't',
      cookie: 'crumb=c%3Bd',
      body: '',
    });
    expect((await house.call('echo_write', { body: { a: 1 } })).output).toMatchObject({ path: '/v1/things', body: { a: 1 } });
    const form = await house.call('echo_form', { body: { a: '1', b: 'x&y' } });
    expect(form.output).toMatchObject({ body: 'a=1&b=x%26y', authorization: `Basic ${btoa('ada:secret')}` });
  });

  it('leads to no other operation by an argument, and says what the API answered', async () => {
    const asked = api.seen.length;
    for (const path of ['..', '.', ''])
      expect((await house.call('echo_read', { path })).error?.message).toContain('An argument of the path');
    expect(api.seen).toHaveLength(asked);
    expect((await house.call('echo_missing', {})).error?.message).toContain('answered 404: {"why":"gone"}');
    await expect(house.call('echo_read', {})).rejects.toMatchObject({ code: 'arguments-invalid' });
    await expect(house.call('echo_write', { body: { a: 'text' } })).rejects.toMatchObject({ code: 'arguments-invalid' });
  });

  it('is followed by a proposal when its description changes, and by nothing while it does not', async () => {
    const refresh = (api: object = {}) => house.parts.authoring.refresh('echo', { isPublic: true, ...api }, 'local');
    expect(await refresh()).toBeUndefined();
    const before = readFileSync(fileOf('echo.ts'), 'utf8');
    description = describeApi({ '/new': { get: { operationId: 'fresh', security: [], ...answers } }, '/missing': {} });
    const answer = await refresh();
    expect(answer?.state).toBe('proposed');
    expect(readFileSync(fileOf('echo.ts'), 'utf8')).toBe(before);
    const { proposal } = house.parts.repairs.get(answer?.repair ?? '');
    expect(proposal?.diff).toContain('+    echo_fresh: defineTool({');
    expect(proposal?.asks.join()).toContain('echo_missing');
    expect(proposal?.asks.join()).not.toContain('a person wrote');
    await house.parts.repairs.apply(answer?.repair ?? '', 'local');
    expect((await house.call('echo_fresh', {})).output).toMatchObject({ path: '/v1/new' });

    writeFileSync(fileOf('echo.ts'), `${readFileSync(fileOf('echo.ts'), 'utf8')}// by hand\n`);
    await house.parts.plugins.reload('echo');
    const taking = await refresh({ text: JSON.stringify(describeApi()) });
    expect(house.parts.repairs.get(taking?.repair ?? '').proposal?.asks[0]).toContain('a person wrote');
    writeFileSync(fileOf('echo.ts'), `${readFileSync(fileOf('echo.ts'), 'utf8')}// again\n`);
    await expect(house.parts.repairs.apply(taking?.repair ?? '', 'local')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is read from hosts that may be read, within bounds', async () => {
    const places: readonly (readonly [string, string, boolean])[] = [
      [api.url.replace('127.0.0.1', '127.0.0.2'), 'network-refused', true],
      ['http://169.254.169.254/latest/meta-data', 'network-refused', true],
      ['https://api.example.com/openapi.json', 'network-refused', false],
      [`${api.url}/moved`, 'network-refused', true],
      [`${api.url}/huge`, 'network-failed', false],
      [`${api.url}/v1/missing`, 'network-failed', false],
    ];
    for (const [address, code, isPublic] of places) {
      const error = await create('other', address, isPublic).catch((each: unknown) => each);
      expect(error, address).toMatchObject({ code });
      if (code === 'network-refused') expect(error).toMatchObject({ fix: expect.stringContaining('repair: { sources:') });
    }
    const refused = await house.call('create_custom_skill', {
      name: 'other',
      description: 'Asks.',
      source: 'https://api.example.com/a.json',
    });
    expect(refused.error?.code).toBe('network-refused');
  });

  it('is made from a file in a folder of plugins, and from no other', async () => {
    const text = JSON.stringify({ ...describeApi(), servers: [{ url: api.url }] });
    writeFileSync(fileOf('api.json'), text);
    expect((await create('local', 'api.json')).state).toBe('proposed');
    writeFileSync(join(house.folder, 'secret.json'), text);
    symlinkSync(join(house.folder, 'secret.json'), fileOf('link.json'));
    for (const file of ['../secret.json', 'link.json', '/etc/hostname', 'echo.ts', 'none.json'])
      await expect(create('other', file), file).rejects.toThrow(`The file "${file}" is not read`);
  });

  it('is told to the model that mends it as far as it may be read: what would be made today, else what is there', async () => {
    description = describeApi();
    const made = await create('told', `${api.url}/openapi.json`);
    const text = house.parts.repairs.get(made.repair).proposal?.files[0]?.after ?? '';
    const network = house.parts.config.network;
    const descriptions = createDescriptionReader({ network, resolve: undefined, hosts: () => [], folders: () => [] });
    const parts = { descriptions, makePlugin: createPluginMaker({ maxMs: 60_000 }) };
    const host = api.url.replace('http://', '');
    writeFileSync(join(house.folder, 'told.ts'), text);
    const source = findSource({ path: house.folder, kind: 'plugins', label: 'here' }, 'told.ts');
    if (source === undefined) throw new Error('The file is no plugin.');
    const tell = (now: string, net: readonly string[]) => {
      const plugin = { source, name: 'told', contentHash: '' };
      return describeSource(parts, { plugin, sources: new Map([[source.realEntry, now]]) }, net);
    };
    try {
      expect(await tell('export default {};', [host])).toBeUndefined();
      expect(await tell(text, [host])).toContain('(none)');
      description = describeApi({ '/new': { get: { operationId: 'fresh', ...answers } } });
      expect(await tell(text, [host])).toContain('+    told_fresh: defineTool({');
      expect(await tell(text, [])).toContain('It was not read: No description is read from');
      expect(await tell(`// @source: ${api.url}/openapi.json\nexport default {};`, [host])).toContain('"operationId":"fresh"');
    } finally {
      await descriptions.close();
    }
  });
});
