import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { prepareOperations } from '../../src/operations/invoke.ts';
import { type Door, openDoor } from '../http/door-parts.ts';

/**
 * What one caller may learn of another by each operation: nothing. Every operation that is open to callers stands here with
 * inputs that try; whoever adds one decides here. Those of role admin are refused as a whole.
 */
const attempts: Readonly<Record<string, (ann: Ann) => object>> = {
  'tools.list': () => ({}),
  'tools.get': () => ({ ref: 'echo' }),
  'tools.select': () => ({ context: 'echo what ann wrote' }),
  'tools.call': ({ key }) => ({ ref: 'echo', idempotencyKey: key, session: 'diary', arguments: { mine: 1 } }),
  'executions.list': ({ caller }) => ({ caller: caller.id }),
  'executions.get': ({ execution }) => ({ id: execution }),
  'executions.cancel': ({ execution }) => ({ id: execution }),
  'executions.replay': ({ execution }) => ({ id: execution }),
  'executions.follow': ({ execution }) => ({ id: execution }),
  'loops.list': () => ({}),
  'loops.get': ({ loop }) => ({ id: loop }),
  'loops.follow': ({ loop }) => ({ id: loop }),
  'loops.cancel': ({ loop }) => ({ id: loop }),
  'loops.steer': ({ loop }) => ({ id: loop, text: 'Tell bob.' }),
  'prompts.list': () => ({}),
  'prompts.get': () => ({ name: 'echo' }),
  'resources.list': () => ({}),
  'resources.templates': () => ({}),
  'resources.read': () => ({ uri: 'diary://ann' }),
  'completions.complete': () => ({ ref: { type: 'prompt', name: 'echo' }, argument: { name: 'text', value: 'what' } }),
  'approvals.list': () => ({ status: 'all' }),
  'approvals.get': ({ approval }) => ({ id: approval }),
  'approvals.answer': ({ approval }) => ({ id: approval, answer: 'approve' }),
  'events.list': () => ({ after: 0, limit: 1000 }),
  'audit.list': ({ caller }) => ({ caller: caller.id }),
  'status.show': () => ({}),
  'models.list': () => ({}),
  'usage.list': () => ({ by: 'key', days: 90 }),
  'models.usage': ({ caller }) => ({ caller: caller.id }),
  'kv.list': ({ caller }) => ({ plugin: 'keeps', caller: caller.id }),
  'kv.export': ({ caller }) => ({ plugin: 'keeps', caller: caller.id }),
  'kv.import': ({ caller }) => ({ plugin: 'keeps', caller: caller.id, entries: [{ key: 'a', value: 'overwritten' }] }),
  'kv.delete': ({ caller }) => ({ plugin: 'keeps', caller: caller.id }),
  'schedules.list': () => ({}),
  'schedules.cancel': ({ schedule }) => ({ id: schedule }),
  'skills.run': () => ({ name: 'echo', script: 'echo', session: 'diary' }),
  'tickets.create': () => ({}),
};

interface Ann {
  readonly caller: Caller;
  readonly execution: string;
  readonly approval: string;
  readonly schedule: string;
  readonly loop: string;
  readonly key: string;
}

const keeps = `export default {
  name: 'keeps', description: 'Keeps.', permissions: { kv: true },
  handler: async (args: { text: string }, context: any) => { await context.kv.set('a', args.text); return args.text; },
}`;
const marker = 'what-ann-wrote-for-nobody-else';

let door: Door;
let ann: Ann;
let bob: Caller;
let annsKey: string;
let bobsKey: string;

const ask =
  (key: string) =>
  (path: string, init: RequestInit = {}) =>
    fetch(door.url + path, { ...init, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } });
const send = (body: unknown): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
const readText = async (response: Promise<Response>): Promise<string> => (await response).text();

beforeAll(async () => {
  door = await openDoor();
  writeFileSync(join(door.cwd, 'plugins', 'keeps.ts'), keeps);
  const headers = { 'content-type': 'application/json' };
  expect((await door.fetch('/api/plugins/reload', { ...send({}), headers })).status).toBe(200);
  expect((await door.fetch('/api/grants', { ...send({ plugin: 'keeps', requested: true }), headers })).status).toBe(200);
  const make = async (name: string) => door.keys.create({ name, role: 'caller' });
  const [a, b] = await Promise.all([make('ann'), make('bob')]);
  annsKey = a.key;
  bobsKey = b.key;
  bob = { id: b.row.id, role: 'caller' };
  const call = { arguments: { text: marker }, idempotencyKey: 'the-same-key', session: 'diary' };
  for (const tool of ['echo', 'keeps']) {
    expect(await readText(ask(annsKey)(`/api/tools/${tool}/call`, send(call)))).toContain('"status":"success"');
  }
  const [execution] = JSON.parse(await readText(ask(annsKey)('/api/executions'))).items;
  const approval = door.approvals.ask({
    kind: 'confirm',
    askKey: 'anns question',
    unitPath: '/keeps.ts',
    plugin: 'keeps',
    caller: a.row.id,
    reason: 'confirm',
    question: marker,
    argumentsHash: 'hash',
    details: { text: marker },
  });
  const said = { role: 'assistant', parts: [{ type: 'text', text: marker }] };
  const answer = { id: 'a', model: 'm', parts: said.parts, stop: { kind: 'end' } };
  const end = {
    reason: 'answered',
    answer,
    messages: [said],
    usage: { inputTokens: 1, outputTokens: 1 },
    rounds: 1,
    untaken: [],
  };
  door.store.loops.put({
    id: 'anns-loop',
    caller: a.row.id,
    purpose: 'chat',
    model: 'm',
    requestJson: '',
    startedAtMs: 1,
    endedAtMs: 2,
    endJson: JSON.stringify(end),
  });
  const caller: Caller = { id: a.row.id, role: 'caller' };
  const time = { atMs: Date.now() + 3_600_000 };
  const { id: schedule } = door.schedules.create({ tool: 'echo', arguments: { text: marker }, session: 'diary', time }, caller);
  ann = { caller, execution: execution.id, approval: approval.id, schedule, loop: 'anns-loop', key: 'the-same-key' };
});
afterAll(() => door.close());

function listOperations() {
  return [...prepareOperations(door.operations).values()];
}

describe('the operations that are open to callers', () => {
  it('all stand in the table of attempts', () => {
    const open = listOperations().filter(({ operation }) => operation.role !== 'admin');
    expect([...open.map(({ operation }) => operation.name), 'tickets.create'].sort()).toEqual(Object.keys(attempts).sort());
  });

  it.each(Object.entries(attempts).filter(([name]) => name !== 'tickets.create'))(
    '%s tells a caller nothing of another',
    async (name, attempt) => {
      const found = listOperations().find(({ operation }) => operation.name === name);
      const context = { caller: bob, signal: new AbortController().signal };
      let told: unknown;
      try {
        told = await found?.invoke(attempt(ann), context);
      } catch (error) {
        told = { code: Object(error).code, message: String(error), facts: Object(error).facts };
      }
      const text = JSON.stringify(told);
      expect(text).not.toContain(marker);
      // What bob himself named may be said again; what lies behind it may not.
      const named = JSON.stringify(attempt(ann));
      for (const secret of [ann.caller.id, ann.execution, ann.approval, ann.schedule]) {
        if (!named.includes(secret)) expect(text).not.toContain(secret);
      }
    },
  );

  it('changed nothing of hers', async () => {
    const { items } = JSON.parse(await readText(ask(annsKey)('/api/plugins/keeps/kv/export')));
    expect(items).toMatchObject([{ key: 'a', value: marker }]);
    expect(door.approvals.get(ann.approval)?.status).toBe('open');
    expect(door.schedules.list(ann.caller)).toHaveLength(1);
    expect(await readText(ask(annsKey)(`/api/loops/${ann.loop}`))).toContain(marker);
    expect(JSON.parse(await readText(ask(annsKey)(`/api/executions/${ann.execution}`))).status).toBe('success');
  });
});

describe('the operations for admins', () => {
  it('are refused to callers before their input is looked at', async () => {
    const context = { caller: bob, signal: new AbortController().signal };
    for (const { operation, invoke } of listOperations()) {
      if (operation.role !== 'admin') continue;
      expect(() => invoke({ nonsense: true }, context)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    }
  });

  it('and metrics are refused to callers by their routes', async () => {
    for (const path of ['/metrics', '/api/plugins', '/api/keys', '/api/config', '/api/grants']) {
      expect((await ask(bobsKey)(path)).status).toBe(403);
    }
  });
});

describe('the operations for strangers', () => {
  it('are those of tools, prompts and resources alone', () => {
    const open = listOperations().filter(({ operation }) => operation.isForAnonymous);
    expect(open.map(({ operation }) => operation.name).sort()).toEqual([
      'completions.complete',
      'prompts.get',
      'prompts.list',
      'resources.list',
      'resources.read',
      'resources.templates',
      'tools.call',
      'tools.get',
      'tools.list',
    ]);
  });

  it('and no other are refused to somebody without a token, also where the config lets anonymous callers in', () => {
    const stranger: Caller = { id: 'anonymous:1', role: 'caller', isAnonymous: true, tools: ['*'] };
    const context = { caller: stranger, signal: new AbortController().signal };
    for (const { operation, invoke } of listOperations()) {
      if (operation.isForAnonymous) continue;
      expect(() => invoke({}, context)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
    }
  });
});
