import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Client, createHttpClient } from '../../src/client/client.ts';
import type { EventEnvelope } from '../../src/events/event.ts';
import { auditContracts } from '../../src/operations/contracts/access/audit.ts';
import { keyContracts } from '../../src/operations/contracts/access/keys.ts';
import { eventContracts } from '../../src/operations/contracts/events.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';

/** One plugin that remembers in every way it can; its isolation is filled in. */
const remembers = (name: string, isolation: string) => `
let memory: string[] = [];
globalThis.shared = [];
export default {
  name: '${name}', description: 'Remembers.', isolation: '${isolation}',
  permissions: { kv: true, read: ['.'], write: ['.']${isolation === 'plugin' ? ', sharedCell: true' : ''} },
  tools: {
    ${name}_put: {
      description: 'Remembers a text.',
      handler: async ({ text }: { text: string }, context: any) => {
        memory.push(text);
        (globalThis as any).shared.push(text);
        (Array.prototype as any).left = text;
        setTimeout(() => memory.push('timer of ' + text), 5);
        context.log.info('put ' + text);
        await context.kv.set('text', text);
        await context.files.write('text.txt', text);
        return text;
      },
    },
    ${name}_get: {
      description: 'Says what it remembers.',
      handler: async (args: {}, context: any) => ({
        memory,
        shared: (globalThis as any).shared,
        left: ([] as any).left ?? null,
        kv: (await context.kv.get('text')) ?? null,
        files: (await context.files.list('.')).items.map((item: any) => item.name),
        caller: context.caller.id,
      }),
    },
  },
};
`;
const waits = `export default {
  name: 'waits', description: 'Waits.', handler: () => new Promise((resolve) => setTimeout(resolve, 60_000)),
};
`;

let folder: string;
let house: DaemonHouse;
let ann: Person;
let bob: Person;

interface Person {
  readonly id: string;
  readonly key: string;
  readonly client: Client;
  call(ref: string, args?: Record<string, unknown>, more?: object): ReturnType<DaemonHouse['call']>;
}

async function makePerson(name: string, rules: object = {}): Promise<Person> {
  const { id, key } = await house.client.invoke(keyContracts.create, { name, ...rules });
  const client = createHttpClient({ url: house.url, token: key });
  return {
    id,
    key,
    client,
    call: (ref, args = {}, more = {}) => client.invoke(toolContracts.call, { ref, arguments: args, ...more }),
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hotcell-callers-'));
  mkdirSync(join(folder, 'plugins'));
  const config = 'port: 0\nworkers: { min: 1, max: 1 }\nanonymous: { enabled: true, tools: [call_*] }\n';
  writeFileSync(join(folder, 'hotcell.config.yaml'), config);
  for (const isolation of ['call', 'session', 'plugin']) {
    writeFileSync(join(folder, 'plugins', `${isolation}.ts`), remembers(isolation, isolation));
  }
  writeFileSync(join(folder, 'plugins', 'waits.ts'), waits);
  house = await openDaemonHouse(folder, { grantRequested: true });
  [ann, bob] = await Promise.all([makePerson('ann'), makePerson('bob')]);
});
afterAll(async () => {
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('two callers of one plugin', () => {
  it.each(['call', 'session'])('share no memory, files, values or timers (isolation %s)', async (name) => {
    const session = { session: 'the-same-name' };
    await ann.call(`${name}_put`, { text: 'of ann' }, session);
    const { output } = await bob.call(`${name}_get`, {}, session);
    expect(output).toEqual({ memory: [], shared: [], left: null, kv: null, files: [], caller: bob.id });
    const own = await ann.call(`${name}_get`, {}, session);
    expect(own.output).toMatchObject({ kv: 'of ann', files: ['text.txt'], caller: ann.id });
  });

  it('share the memory of one cell alone where an operator granted sharedCell, and still no files or values', async () => {
    await ann.call('plugin_put', { text: 'of ann' });
    const { output } = await bob.call('plugin_get');
    expect(output).toMatchObject({ memory: expect.arrayContaining(['of ann']), kv: null, files: [], caller: bob.id });
  });

  it('share no executions, logs, events, audit, or idempotency keys', async () => {
    const key = { idempotencyKey: 'the-same-key', session: 'the-same-name' };
    const hers = await ann.call('call_put', { text: 'secret of ann' }, key);
    const his = await bob.call('call_put', { text: 'secret of bob' }, key);
    expect([his.output, his.replayed]).toEqual(['secret of bob', undefined]);
    await expect(bob.client.invoke(executionContracts.get, { id: hers.executionId })).rejects.toMatchObject({
      code: 'execution-unknown',
    });
    const lists = await Promise.all([
      bob.client.invoke(executionContracts.list, { caller: ann.id }),
      bob.client.invoke(eventContracts.list, { limit: 1000 }),
      bob.client.invoke(auditContracts.list, { caller: ann.id }),
    ]);
    const text = JSON.stringify(lists);
    expect(text).not.toContain('secret of ann');
    expect(text).not.toContain(ann.id);
    expect(text).not.toContain(hers.executionId);
    expect(text).toContain(his.executionId);
    expect((await ann.client.invoke(executionContracts.get, { id: hers.executionId })).logs).toHaveLength(1);
  });

  it('cannot cancel one another', async () => {
    const started = house.event('execution-start', ({ data, caller }) => data.tool === 'waits' && caller === ann.id);
    const waiting = ann.call('waits').catch(() => undefined);
    const { subject: id } = Object(await started);
    await expect(bob.client.invoke(executionContracts.cancel, { id })).rejects.toMatchObject({ code: 'execution-unknown' });
    expect(await ann.client.invoke(executionContracts.cancel, { id })).toMatchObject({ cancelled: true });
    await waiting;
  });

  it('hear no live event of one another', async () => {
    const heard: EventEnvelope[] = [];
    const end = new AbortController();
    const opened = Promise.withResolvers<void>();
    const reading = (async () => {
      for await (const event of bob.client.events({ signal: end.signal, onOpen: opened.resolve })) {
        heard.push(event);
        if (event.type === 'execution-end') end.abort();
      }
    })();
    await opened.promise;
    await ann.call('call_put', { text: 'of ann' });
    await bob.call('call_get');
    await reading.catch(() => undefined);
    expect(heard.length).toBeGreaterThan(0);
    expect(new Set(heard.map(({ caller }) => caller))).toEqual(new Set([bob.id]));
  });
});

describe('a caller without a token', () => {
  const ask = (path: string, body?: object) =>
    fetch(house.url + path, {
      ...(body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });

  it('shares nothing with anybody, not even with itself, and leaves nothing behind', async () => {
    const before = readdirSync(join(folder, '.hotcell', 'workspaces'));
    expect(await (await ask('/api/tools/call_put/call', { arguments: { text: 'of a stranger' } })).json()).toMatchObject({
      status: 'success',
    });
    const { output } = Object(await (await ask('/api/tools/call_get/call', {})).json());
    expect(output).toMatchObject({ memory: [], kv: null, files: [] });
    expect(readdirSync(join(folder, '.hotcell', 'workspaces')).sort()).toEqual(before.sort());
    expect(house.daemon.parts.store.kv.owners('call').some(({ owner }) => owner.startsWith('anonymous:'))).toBe(false);
  });

  it('sees the listed tools and nothing else', async () => {
    const { items } = Object(await (await ask('/api/tools')).json());
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['call_get', 'call_put', 'call_tool']);
    for (const path of ['/api/executions', '/api/events', '/api/events/kept', '/api/audit', '/api/status', '/metrics']) {
      expect([path, (await ask(path)).status]).toEqual([path, 401]);
    }
    expect((await ask('/api/tools/waits/call', {})).status).toBe(404);
    expect((await ask('/api/tickets', {})).status).toBe(401);
  });

  it('is not let in with a token that nobody has', async () => {
    expect((await fetch(`${house.url}/api/tools`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
  });
});

describe('a key whose rules change', () => {
  it('loses its open connections and comes back with what it may do now', async () => {
    const carol = await makePerson('carol');
    const socket = new WebSocket(house.url.replace('http', 'ws').concat('/ws'), {
      headers: { authorization: `Bearer ${carol.key}` },
    });
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    await house.client.invoke(keyContracts.update, { id: carol.id, tools: ['call_get'] });
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools.list', params: {} }));
    expect(await closed).toBe(4401);
    expect((await carol.client.invoke(toolContracts.list, {})).items.map(({ name }) => name)).toEqual(['call_get']);
    await house.client.invoke(keyContracts.revoke, { id: carol.id });
    await expect(carol.client.invoke(toolContracts.list, {})).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('is told of changes of its own tools alone', async () => {
    const dora = await makePerson('dora', { tools: ['fresh_mine'] });
    const plugin = (name: string) => `export default { name: '${name}', description: 'New.', handler: () => 1 };\n`;
    const changes = ['fresh_mine', 'fresh_other'].map((name) => {
      const change = house.event('tools-change', ({ data }) => data.added.some((ref) => ref.startsWith(name)));
      writeFileSync(join(folder, 'plugins', `${name}.ts`), plugin(name));
      return change;
    });
    await Promise.all(changes);
    const { items } = await dora.client.invoke(eventContracts.list, { types: ['tools-change'] });
    expect(items.flatMap(({ data }) => Object.values(data).flat())).toEqual(['fresh_mine@0.0.0']);
  });
});
