import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { errorCatalog } from '../../src/errors/catalog.ts';
import { adviseFor } from '../../src/errors/problem.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { readJson } from './door-parts.ts';

/** Stands in the source alone, on the line that throws. */
const marker = 'only-the-source-says-this';
const breaks = `export default {
  name: 'breaks', version: '1.0.0', description: 'Fails.', parameters: { type: 'object' },
  handler: async (args) => {
    if (args.deep) return args.missing.deeper; // ${marker}
    throw new Error('it broke'); // ${marker}
  },
}`;
const outer = `export default {
  name: 'outer', version: '1.0.0', description: 'Calls what fails.', parameters: { type: 'object' }, permissions: { tools: ['breaks'] },
  handler: (_args, context) => context.tools.call('breaks', {}),
}`;

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
let key: string;
const ask = (path: string, token: string | undefined, body?: unknown) =>
  fetch(`${house.daemon.url}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });

beforeAll(async () => {
  house = await startSmallDaemon(
    { 'breaks.ts': breaks, 'outer.ts': outer },
    { anonymous: { enabled: true, tools: ['breaks'] } },
    { listen: true },
  );
  ({ key } = await readJson(await ask('/api/keys', house.daemon.token, {})));
});
afterAll(() => house.close());

function expectBlind(text: string): void {
  for (const secret of [marker, 'codeFrame', '"frames"', 'breaks.ts:']) expect(text).not.toContain(secret);
}

describe('where a plugin failed', () => {
  it('is shown to an admin, in the answer and in the record', async () => {
    const answer = await readJson(await ask('/api/tools/breaks/call', house.daemon.token, {}));
    const { error } = await readJson(await ask(`/api/executions/${answer.executionId}`, house.daemon.token));
    for (const each of [answer.error, error]) {
      expect(each).toMatchObject({ code: 'handler-threw', frames: [{ file: 'breaks.ts', line: 5 }] });
      expect(each.codeFrame).toContain(marker);
      expect(each.fix).toMatch(new RegExp(`hotcell executions show ${answer.executionId}\\.$`));
    }
  });

  it.each([
    ['breaks', {}],
    ['breaks', { deep: true }],
    ['outer', {}],
  ])('is not shown to a caller of %s %j: its answer has the message and the code', async (ref, args) => {
    const text = await (await ask(`/api/tools/${ref}/call`, key, { arguments: args })).text();
    expectBlind(text);
    const { executionId, error } = JSON.parse(text);
    expect(error).toMatchObject({ code: expect.any(String), message: expect.stringMatching(/./) });
    expect(error.fix).toContain(`hotcell executions show ${executionId}`);
  });

  it('is not shown to somebody without a token', async () => {
    const text = await (await ask('/api/tools/breaks/call', undefined, {})).text();
    expect(JSON.parse(text).error).toMatchObject({ code: 'handler-threw', message: 'it broke' });
    expectBlind(text);
  });

  it('is not shown by the answer to the same idempotency key', async () => {
    const body = { idempotencyKey: 'once' };
    await ask('/api/tools/breaks/call', key, body);
    const again = await (await ask('/api/tools/breaks/call', key, body)).text();
    expect(JSON.parse(again)).toMatchObject({ replayed: true, error: { message: 'it broke' } });
    expectBlind(again);
  });

  it('is in nothing that a caller can read over HTTP', async () => {
    const { executionId } = await readJson(await ask('/api/tools/breaks/call', key, {}));
    const known: Readonly<Record<string, string>> = { ref: 'breaks', name: 'breaks', id: executionId, plugin: 'breaks' };
    const paths = house.daemon.operations
      .filter(({ http }) => http.method === 'GET')
      .map(({ http }) => http.path.replace(/:(\w+)/g, (_match, name: string) => known[name] ?? 'none'));
    expect(paths).toContain(`/api/executions/${executionId}`);
    for (const path of [...paths, '/metrics']) expectBlind(await (await ask(path, key)).text());
  });

  it('is in nothing that a caller hears over a WebSocket', async () => {
    const socket = new WebSocket(`${String(house.daemon.url).replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await once(socket, 'open');
    const heard: string[] = [];
    const over = Promise.withResolvers<void>();
    socket.on('message', (data) => {
      heard.push(String(data));
      if (heard.some((text) => text.includes('execution-end')) && heard.some((text) => text.includes('"id":2'))) over.resolve();
    });
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'events.subscribe' }));
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools.call', params: { ref: 'breaks' } }));
    await over.promise;
    socket.close();
    expect(heard.join('\n')).toContain('it broke');
    expectBlind(heard.join('\n'));
  });
});

describe('the next step that a caller is told', () => {
  it('is never a command that would be refused like the one before: it says who can help', async () => {
    const refused = await ask('/api/keys', key, { role: 'admin' });
    const { fix } = await readJson(refused);
    expect([refused.status, fix]).toEqual([403, 'Ask the operator: this takes the admin token, or a key of role admin.']);
    const { executionId, error } = await readJson(await ask('/api/tools/breaks/call', key, {}));
    const shown = (await readJson(await ask(`/api/executions/${executionId}`, key))).error;
    for (const each of [error, shown]) {
      expect(each.fix).toBe(`Ask the operator, who sees where: hotcell executions show ${executionId}.`);
    }
  });

  it('is the command itself where a caller can take it, and for admins', () => {
    expect(adviseFor('caller', 'List the tools: hotcell tool list.')).toBe('List the tools: hotcell tool list.');
    const grant = 'Allow it with: hotcell grant weather net=api.example.com';
    expect(adviseFor('admin', grant)).toBe(grant);
    expect(adviseFor('caller', grant)).toBe(`Ask the operator, who can help: ${grant}`);
  });

  it('says of every error of the catalog that needs an operator that one can help', () => {
    for (const { fix } of Object.values(errorCatalog)) {
      if (/hotcell (?:grant|why|start|hook)|in the config/.test(fix)) expect(adviseFor('caller', fix)).toMatch(/operator/);
    }
  });
});
