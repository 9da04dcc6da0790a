import { randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';

const files = {
  'greet.ts': `export default { description: 'Greets.', handler: ({ name }: { name: string }) => 'Hello ' + name }`,
  'sum.ts': `export default { handler: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }) }`,
  'fails.ts': `export default { handler: (_args: {}) => { throw new Error('It broke.'); } }`,
  'danger.ts': `export default { isDangerous: true, handler: ({ what }: { what: string }) => 'deleted ' + what }`,
  'form.ts': `export default { handler: async (_args: {}, context) => (await context.ask({ message: 'Which colour?',
    schema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] } })).content }`,
  'waits.ts': `export default { handler: async (_args: {}, context) => { await new Promise(() => setTimeout(() => {}, 600000)); } }`,
};
let house: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  house = await startSmallDaemon(files, {}, { listen: true });
});
afterAll(() => house.close());

const urlOf = () => house.daemon.url ?? '';
const makeKey = (rules = {}) =>
  house.parts.keys.create({ name: 'agent', role: 'caller', rules: { mayAnswer: true, ...rules } }).key;

/** A client of the protocol's own library. */
async function connect(key: string): Promise<Client> {
  const withKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  const transports = [new JsonRpcTransportFactory({ fetchImpl: withKey })];
  const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports }));
  return factory.createFromUrl(urlOf());
}

function say(value: unknown, more: Partial<Message> = {}) {
  const content: Part['content'] = typeof value === 'string' ? { $case: 'text', value } : { $case: 'data', value };
  const part: Part = { content, metadata: undefined, filename: '', mediaType: '' };
  const message: Message = {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

function asTask(result: Message | Task): Task {
  if ('messageId' in result) throw new Error('it is a message');
  return result;
}

const valuesOf = (parts: readonly Part[] = []): unknown[] => parts.map(({ content }) => content?.value);

async function readAll(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const all: StreamResponse[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

describe('the agent card', () => {
  it('tells everybody where and how to speak, and of no tool', async () => {
    const response = await fetch(`${urlOf()}/.well-known/agent-card.json`);
    const card = await response.json();
    expect(card).toMatchObject({
      supportedInterfaces: [{ url: `${urlOf()}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true },
      skills: [{ id: 'list-capabilities' }, { id: 'call-tool' }],
    });
    expect(JSON.stringify(card)).not.toContain('greet');
  });

  it('is all that there is without a key', async () => {
    for (const authorization of ['', 'Bearer hck_wrong']) {
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} });
      expect((await fetch(`${urlOf()}/a2a`, { method: 'POST', headers, body })).status).toBe(401);
    }
  });
});

describe('a2a', () => {
  it('lists the tools that the key may call, and no other', async () => {
    const list = async (key: string) => {
      const answer = await (await connect(key)).sendMessage(say('list-capabilities'));
      const [data] = valuesOf('parts' in answer ? answer.parts : []) as [{ tools: { name: string; input: unknown }[] }];
      return data.tools;
    };
    expect((await list(makeKey())).map(({ name }) => name)).toEqual(expect.arrayContaining(['greet', 'danger', 'sum']));
    const few = await list(makeKey({ tools: ['greet'] }));
    expect(few.map(({ name }) => name)).toEqual(['greet']);
    expect(few[0]?.input).toMatchObject({ properties: { name: { type: 'string' } } });
  });

  it('runs a tool as a task, streamed', async () => {
    const client = await connect(makeKey());
    const stream = await readAll(
      client.sendMessageStream(say({ tool: 'greet', arguments: { name: 'Ann' } }, { contextId: 'talk' })),
    );
    expect(stream.map(({ payload }) => payload?.$case)).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
    const [, artifact, status] = stream.map(({ payload }) => payload?.value);
    expect(artifact).toMatchObject({
      contextId: 'talk',
      artifact: { parts: [{ content: { $case: 'text', value: 'Hello Ann' } }] },
    });
    expect(status).toMatchObject({ contextId: 'talk', status: { state: TaskState.TASK_STATE_COMPLETED } });
    const task = asTask(await client.sendMessage(say({ tool: 'sum', arguments: { a: 1, b: 2 } })));
    expect(valuesOf(task.artifacts[0]?.parts)).toEqual([{ sum: 3 }]);
    const again = await client.getTask({ tenant: '', id: task.id });
    expect(again).toMatchObject({ id: task.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
    const failed = asTask(await client.sendMessage(say({ tool: 'fails' })));
    expect(failed.status).toMatchObject({ state: TaskState.TASK_STATE_FAILED });
    expect(String(valuesOf(failed.status?.message?.parts))).toContain('It broke.');
  });

  it('waits in input_required for an approval, which the key answers', async () => {
    const client = await connect(makeKey());
    const ask = say({ tool: 'danger', arguments: { what: 'all' } });
    const stream = await readAll(client.sendMessageStream(ask));
    const last = stream.at(-1)?.payload;
    if (last?.$case !== 'statusUpdate') throw new Error('it waits');
    expect(last.value.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const [, data] = valuesOf(last.value.status?.message?.parts) as [string, { question: string; arguments: unknown }];
    expect(data).toMatchObject({ kind: 'call', arguments: { what: 'all' } });
    const { taskId } = last.value;
    const done = asTask(await client.sendMessage(say({ question: data.question, allow: true }, { taskId })));
    expect(done).toMatchObject({ id: taskId, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(valuesOf(done.artifacts[0]?.parts)).toEqual(['deleted all']);
    await expect(client.sendMessage(say({ question: data.question, allow: true }, { taskId }))).rejects.toThrow('does not wait');
    const form = asTask(await client.sendMessage(say({ tool: 'form' })));
    const filled = asTask(await client.sendMessage(say({ content: { colour: 'red' } }, { taskId: form.id })));
    expect(valuesOf(filled.artifacts[0]?.parts)).toEqual([{ colour: 'red' }]);
  });

  it('lets a key answer only what it may', async () => {
    const client = await connect(makeKey({ mayAnswer: false }));
    const task = asTask(await client.sendMessage(say({ tool: 'danger', arguments: { what: 'x' } })));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(JSON.stringify(valuesOf(task.status?.message?.parts))).toContain('hotcell approve');
    await expect(client.sendMessage(say({ allow: true }, { taskId: task.id }))).rejects.toThrow('forbidden');
    expect((await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).status?.state).toBe(
      TaskState.TASK_STATE_CANCELED,
    );
  });

  it('cancels a task, and goes on with one whose client went away', async () => {
    const client = await connect(makeKey());
    const going = asTask(
      await client.sendMessage({
        ...say({ tool: 'waits' }),
        configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true },
      }),
    );
    expect(going.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const leaving = new AbortController();
    const stream = client.resubscribeTask({ tenant: '', id: going.id }, { signal: leaving.signal });
    expect((await stream.next()).value?.payload?.$case).toBe('task');
    leaving.abort();
    await stream.next().catch(() => {});
    expect((await client.getTask({ tenant: '', id: going.id })).status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const cancelled = await client.cancelTask({ tenant: '', id: going.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.cancelTask({ tenant: '', id: going.id, metadata: undefined })).rejects.toThrow('has ended');
  });

  it('tells a key nothing of the tasks of another, nor of tools that it does not see', async () => {
    const ann = await connect(makeKey());
    const bob = await connect(makeKey({ tools: ['greet'] }));
    const task = asTask(await ann.sendMessage(say({ tool: 'danger', arguments: { what: 'x' } })));
    onTestFinished(async () => void (await ann.cancelTask({ tenant: '', id: task.id, metadata: undefined })));
    for (const attempt of [
      () => bob.getTask({ tenant: '', id: task.id }),
      () => bob.cancelTask({ tenant: '', id: task.id, metadata: undefined }),
      () => bob.sendMessage(say({ allow: true }, { taskId: task.id })),
      () => readAll(bob.resubscribeTask({ tenant: '', id: task.id })),
    ]) {
      await expect(attempt()).rejects.toThrow(/no execution/i);
    }
    await expect(bob.sendMessage(say({ tool: 'sum', arguments: { a: 1, b: 1 } }))).rejects.toThrow('no tool "sum"');
    const { tasks } = await bob.listTasks({
      tenant: '',
      contextId: '',
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });
    expect(tasks).toEqual([]);
    expect((await ann.getTask({ tenant: '', id: task.id })).status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  });

  it.each([
    ['another version', '0.3', { method: 'ListTasks', params: {} }],
    ['no version', '', { method: 'ListTasks', params: {} }],
    ['another method', '1.0', { method: 'toString', params: {} }],
    [
      'a message that says nothing',
      '1.0',
      { method: 'SendMessage', params: { message: { messageId: 'a', role: 'ROLE_USER', parts: [] } } },
    ],
    ['no message', '1.0', { method: 'SendMessage', params: {} }],
    [
      'words',
      '1.0',
      { method: 'SendMessage', params: { message: { messageId: 'a', role: 'ROLE_USER', parts: [{ text: 'do it' }] } } },
    ],
    ['a batch', '1.0', [{ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }]],
    ['a web hook', '1.0', { method: 'CreateTaskPushNotificationConfig', params: { taskId: 'a', url: 'http://127.0.0.1/' } }],
  ])('refuses %s', async (_what, version, body) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${makeKey()}`, 'a2a-version': version };
    const sent = Array.isArray(body) ? body : { jsonrpc: '2.0', id: 1, ...body };
    const response = await fetch(`${urlOf()}/a2a`, { method: 'POST', headers, body: JSON.stringify(sent) });
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      error: { code: expect.any(Number), message: expect.any(String) },
    });
  });
});
