import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import type { CallAnswer } from '../../src/calls/call-types.ts';
import { prepareOperations } from '../../src/operations/invoke.ts';
import type { OperationContext } from '../../src/operations/operation.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const asks = `export default {
  tools: {
    order: {
      description: 'Orders.',
      handler: async (args, context) => context.ask({
        message: 'What shall it be?\\u001b[2J',
        schema: {
          type: 'object',
          properties: {
            dish: { type: 'string', title: 'Dish', enum: ['soup', 'bread'], enumNames: ['Soup', 'Bread'] },
            guests: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
            mail: { type: 'string', format: 'email' },
            day: { type: 'string', format: 'date' },
            warm: { type: 'boolean' },
            sides: { type: 'array', items: { anyOf: [{ const: 's', title: 'Salad' }, { const: 'r', title: 'Rice' }] }, maxItems: 2 },
          },
          required: ['dish', 'guests'],
        },
      }),
    },
    bad: { description: 'Asks wrongly.', handler: ({ schema }, context) => context.ask({ message: 'x', schema }) },
    many: {
      description: 'Asks again and again.',
      handler: async (args, context) => {
        const codes = {};
        for (let round = 0; round < 200; round++) {
          const asked = [];
          for (let at = 0; at < 50; at++) {
            asked.push(context.ask({ message: 'Again?', schema: { type: 'object', properties: {} } }).then(() => 'ok', (error) => error.code));
          }
          for (const code of await Promise.all(asked)) codes[code] = (codes[code] ?? 0) + 1;
        }
        return codes;
      },
    },
    client: {
      description: 'Asks the client.',
      handler: async ({ text }, context) => {
        const { roots } = await context.client.listRoots();
        const { content } = await context.client.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 5 });
        return { roots, content };
      },
    },
    outer: { description: 'Calls another.', handler: (args, context) => context.tools.call('order', {}) },
  },
  permissions: { tools: ['order'] },
  limits: { hostCalls: 20000, wallMs: 60000 },
};`;

const operator: Caller = { id: 'local', role: 'admin' };
const ann: Caller = { id: 'ann', role: 'caller' };
const bob: Caller = { id: 'bob', role: 'caller' };
let house: Awaited<ReturnType<typeof startSmallDaemon>>;

// biome-ignore lint/suspicious/noExplicitAny: what operations answer is looked at with matchers
async function invoke(name: string, input: unknown, caller: Caller, more: Partial<OperationContext> = {}): Promise<any> {
  const operation = prepareOperations(house.daemon.operations).get(name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  return operation.invoke(input, { caller, signal: new AbortController().signal, ...more });
}

/** Calls a tool, and hands over the id of every question as soon as the stream of the call tells of it. */
function callAsking(ref: string, args: object, caller: Caller, more: Partial<OperationContext> = {}) {
  const ids: string[] = [];
  const waiting: Array<(id: string) => void> = [];
  const stream: OperationContext['stream'] = {
    accepted: () => {},
    event(event) {
      if (event.type !== 'approval-request') return;
      const next = waiting.shift();
      if (next === undefined) ids.push(event.data.approval);
      else next(event.data.approval);
    },
  };
  const answer: Promise<CallAnswer> = invoke('tools.call', { ref, arguments: args }, caller, { stream, ...more });
  const question = () => {
    const id = ids.shift();
    return id === undefined ? new Promise<string>((resolve) => waiting.push(resolve)) : Promise.resolve(id);
  };
  return { answer, question };
}

beforeAll(async () => {
  house = await startSmallDaemon({ 'asks.ts': asks });
});
afterAll(() => house.close());

describe('context.ask', () => {
  it('asks the caller of the call, whose answer fits the form', async () => {
    const { answer, question } = callAsking('order', {}, ann);
    const id = await question();
    expect(await invoke('approvals.get', { id }, ann)).toMatchObject({
      kind: 'ask',
      saidBy: 'plugin',
      mayAnswer: 'yes',
      question: 'What shall it be?',
      details: { message: expect.any(String), schema: { type: 'object', required: ['dish', 'guests'] } },
    });
    const say = (content: unknown) => invoke('approvals.answer', { id, answer: 'approve', content }, ann);
    await expect(say({ dish: 'tea' })).rejects.toMatchObject({
      code: 'body-invalid',
      message: 'The answer is not taken: content does not fit the form: dish must be one of "soup", "bread".',
    });
    await expect(say(undefined)).rejects.toMatchObject({ message: expect.stringContaining('and is missing') });
    for (const wrong of [
      { guests: 0 },
      { guests: 1.5 },
      { guests: '2' },
      { mail: 'ann' },
      { day: '2026-02-30' },
      { warm: 'yes' },
      { sides: ['s', 's'] },
      { sides: ['x'] },
      { other: 1 },
      { dish: 'x'.repeat(70_000) },
    ]) {
      await expect(say({ dish: 'soup', ...wrong })).rejects.toMatchObject({ code: 'body-invalid' });
    }
    expect((await invoke('approvals.get', { id }, ann)).status).toBe('open');
    const content = { dish: 'soup', mail: 'ann@example.com', day: '2026-02-28', warm: false, sides: ['r'] };
    await say(content);
    expect(await answer).toMatchObject({
      status: 'success',
      output: { action: 'accept', content: { ...content, guests: 2 } },
    });
    await expect(say(content)).rejects.toMatchObject({ code: 'conflict' });
    // Its duty is done: the recording of the call has it.
    expect(await invoke('approvals.get', { id }, ann)).not.toHaveProperty('content');
  });

  it('hears that the caller declines', async () => {
    const { answer, question } = callAsking('order', {}, ann);
    const id = await question();
    await expect(invoke('approvals.answer', { id, answer: 'deny', content: {} }, ann)).rejects.toMatchObject({
      code: 'body-invalid',
    });
    await invoke('approvals.answer', { id, answer: 'deny' }, ann);
    expect(await answer).toMatchObject({ output: { action: 'decline' } });
  });

  it('keeps its question from other callers, and lets the operator answer it', async () => {
    const { answer, question } = callAsking('order', {}, ann);
    const id = await question();
    await expect(invoke('approvals.answer', { id, answer: 'approve', content: { dish: 'soup' } }, bob)).rejects.toMatchObject({
      code: 'approval-unknown',
    });
    await expect(invoke('approvals.get', { id }, bob)).rejects.toMatchObject({ code: 'approval-unknown' });
    await invoke('approvals.answer', { id, answer: 'approve', content: { dish: 'bread' } }, operator);
    expect(await answer).toMatchObject({ output: { content: { dish: 'bread', guests: 2 } } });
  });

  it('refuses forms that are none, and says what is wrong', async () => {
    const property = (value: unknown) => ({ type: 'object', properties: { a: value } });
    const wrong: readonly [unknown, string][] = [
      [undefined, 'its schema'],
      [{ type: 'string' }, 'its schema'],
      [property({ type: 'object', properties: {} }), '"a" must be of type'],
      [property({ type: 'string', pattern: '(a+)+$' }), 'without "pattern"'],
      [property({ type: 'string', format: 'ipv4' }), 'of the format'],
      [property({ type: 'string', enum: [] }), 'a choice of 1 to'],
      [property({ type: 'string', enum: [1] }), 'a choice of 1 to'],
      [property({ type: 'array', items: { type: 'string' } }), 'a list of choices'],
      [property({ type: 'integer', default: 'x' }), 'the default of "a" must be a whole number'],
      [{ ...property({ type: 'string' }), required: ['b'] }, 'its "required"'],
      [{ type: 'object', properties: { 'a\u001b[2J': { type: 'string' } } }, 'named with'],
      [
        { type: 'object', properties: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`a${at}`, { type: 'string' }])) },
        '32',
      ],
      [property({ type: 'string', description: 'x'.repeat(20_000) }), 'bytes of JSON'],
    ];
    for (const [schema, told] of wrong) {
      const answer = await invoke('tools.call', { ref: 'bad', arguments: { schema } }, ann);
      expect(answer).toMatchObject({ status: 'error', error: { message: expect.stringContaining(told) } });
    }
  });

  it('stays within bounds however often it is asked', async () => {
    const open = new Set<string>();
    let most = 0;
    const end = house.parts.events.subscribe({}, ({ type, data }) => {
      if (type === 'approval-answer' && 'approval' in data) open.delete(data.approval);
      if (type !== 'approval-request' || !('approval' in data)) return;
      open.add(data.approval);
      most = Math.max(most, open.size);
      setImmediate(() => void invoke('approvals.answer', { id: data.approval, answer: 'approve' }, ann).catch(() => {}));
    });
    const answer = await invoke('tools.call', { ref: 'many', timeoutMs: 60_000 }, ann);
    end();
    expect(answer).toMatchObject({ status: 'success', output: { ok: 20, 'quota-exceeded': 9980 } });
    expect(most).toBeLessThanOrEqual(20);
    expect((await invoke('approvals.list', {}, ann)).total).toBe(0);
  });

  it('asks for a call within a call, whose caller hears of it', async () => {
    const { answer, question } = callAsking('outer', {}, ann);
    const id = await question();
    await invoke('approvals.answer', { id, answer: 'approve', content: { dish: 'soup' } }, ann);
    expect(await answer).toMatchObject({ output: { action: 'accept' } });
  });
});

describe('context.client', () => {
  it('is refused at once where the client cannot', async () => {
    expect(await invoke('tools.call', { ref: 'client', arguments: { text: 'x' } }, ann)).toMatchObject({
      status: 'error',
      error: { code: 'client-cannot', message: expect.stringContaining('context.client.listRoots is not possible') },
    });
    const { answer, question } = callAsking('client', { text: 'x' }, ann, { clientCan: ['roots'] });
    await invoke('approvals.answer', { id: await question(), answer: 'approve', content: { roots: [] } }, ann);
    expect(await answer).toMatchObject({ error: { message: expect.stringContaining('createMessage is not possible') } });
  });

  it('asks nothing of more than a megabyte', async () => {
    const { answer, question } = callAsking('client', { text: 'x'.repeat(1_048_550) }, ann, { clientCan: ['sampling', 'roots'] });
    await invoke('approvals.answer', { id: await question(), answer: 'approve', content: { roots: [] } }, ann);
    expect(await answer).toMatchObject({ error: { message: expect.stringMatching(/createMessage have \d+ bytes/) } });
  });

  it('asks a client that can', async () => {
    const { answer, question } = callAsking('client', { text: 'Hi' }, ann, { clientCan: ['sampling', 'roots'] });
    const first = await question();
    expect(await invoke('approvals.get', { id: first }, ann)).toMatchObject({ kind: 'ask', details: { method: 'roots/list' } });
    const say = (id: string, content: unknown) => invoke('approvals.answer', { id, answer: 'approve', content }, ann);
    await expect(say(first, { roots: [{}] })).rejects.toMatchObject({ code: 'body-invalid' });
    await say(first, { roots: [{ uri: 'file:///src', name: 'src' }] });
    const second = await question();
    expect(await invoke('approvals.get', { id: second }, ann)).toMatchObject({
      details: { method: 'sampling/createMessage', params: { maxTokens: 5 } },
    });
    await expect(say(second, { role: 'assistant' })).rejects.toMatchObject({ code: 'body-invalid' });
    await say(second, { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hello' } });
    expect(await answer).toMatchObject({
      output: { roots: [{ uri: 'file:///src', name: 'src' }], content: { type: 'text', text: 'Hello' } },
    });
  });

  it('ends with what the plugin makes of a no', async () => {
    const { answer, question } = callAsking('client', { text: 'Hi' }, ann, { clientCan: ['roots'] });
    await invoke('approvals.answer', { id: await question(), answer: 'deny' }, ann);
    expect(await answer).toMatchObject({ status: 'error', error: { message: expect.stringContaining('said no') } });
  });
});
