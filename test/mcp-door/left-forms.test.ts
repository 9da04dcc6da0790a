import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';
import { connectClient } from './clients.ts';

const danger = `export default { isDangerous: true, handler: ({ what }: { what: string }) => 'deleted ' + what };`;

let small: Awaited<ReturnType<typeof startSmallDaemon>>;
let client: Client | undefined;
beforeAll(async () => {
  small = await startSmallDaemon({ 'danger.ts': danger }, {}, { listen: true });
});
afterEach(async () => {
  await client?.close();
  client = undefined;
});
afterAll(() => small.close());

type Answer = { action: 'accept'; content: { allow: boolean } } | { action: 'cancel' };

/** A client that is asked in the middle of its requests. */
async function open(fill: () => Promise<Answer>): Promise<Client> {
  const key = small.parts.keys.create({ name: 'test', role: 'caller', rules: { mayAnswer: true } }).key;
  const options = { capabilities: { elicitation: { form: {} } } };
  const opened = await connectClient(small.daemon.url ?? '', key, '2025-11-25', options);
  opened.setRequestHandler('elicitation/create', fill);
  client = opened;
  return opened;
}

/** A form that nobody ever fills in. */
function leaveOpen(form: PromiseWithResolvers<void>): Promise<Answer> {
  form.resolve();
  return new Promise(() => {});
}

/** Gives a call up, and waits until the daemon has heard of it: the next request could overtake the news. */
async function leave({ transport }: Client, leaving: AbortController): Promise<void> {
  if (transport === undefined) throw new Error('the client is not connected');
  const send = transport.send.bind(transport);
  const heard = Promise.withResolvers<void>();
  transport.send = async (message, options) => {
    await send(message, options);
    if ('method' in message && message.method === 'notifications/cancelled') heard.resolve();
  };
  leaving.abort();
  await heard.promise;
  transport.send = send;
}

const allow: Answer = { action: 'accept', content: { allow: true } };

/** Everybody who was ever asked about a call with these arguments. */
const asked = (what: string) =>
  small.parts.approvals
    .list({ limit: 1000 })
    .filter(({ kind, details }) => kind === 'call' && JSON.stringify(details).includes(what));

describe('a client of 2025-11-25 that leaves a form', () => {
  it('is asked the same question when it asks again, and what it asked for runs once', async () => {
    const form = Promise.withResolvers<void>();
    const fills = [() => leaveOpen(form), async () => allow];
    const opened = await open(() => fills.shift()?.() ?? Promise.reject(new Error('asked too often')));
    const leaving = new AbortController();
    const call = { name: 'danger', arguments: { what: 'given up' } };
    const first = opened.callTool(call, { signal: leaving.signal });
    await form.promise;
    const left = expect(first).rejects.toThrow();
    await leave(opened, leaving);
    await left;
    expect(await opened.callTool(call)).toMatchObject({ content: [{ text: 'deleted given up' }] });
    expect(asked('given up')).toHaveLength(1);
    expect(fills).toEqual([]);
  });

  it('is not asked again where somebody else answered meanwhile', async () => {
    const form = Promise.withResolvers<void>();
    const opened = await open(() => leaveOpen(form));
    const leaving = new AbortController();
    const call = { name: 'danger', arguments: { what: 'answered elsewhere' } };
    const first = opened.callTool(call, { signal: leaving.signal });
    await form.promise;
    const left = expect(first).rejects.toThrow();
    await leave(opened, leaving);
    await left;
    const [question] = asked('answered elsewhere');
    const boss = { id: 'boss', role: 'admin', mayAnswer: false, isPerson: true } as const;
    small.parts.approvals.answer(question?.id ?? '', 'approved', boss);
    expect(await opened.callTool(call)).toMatchObject({ content: [{ text: 'deleted answered elsewhere' }] });
    expect(asked('answered elsewhere')).toHaveLength(1);
  });

  it.each([
    ['dismisses it', async (): Promise<Answer> => ({ action: 'cancel' })],
    ['fails to show it', () => Promise.reject(new Error('no window'))],
  ])('reads who can answer when it %s, and is asked once in a request', async (what, fill) => {
    let forms = 0;
    let current: () => Promise<Answer> = fill;
    const opened = await open(() => {
      forms += 1;
      return current();
    });
    const call = { name: 'danger', arguments: { what } };
    const { content } = await opened.callTool(call);
    expect(JSON.stringify(content)).toContain(`hotcell approve ${asked(what)[0]?.id}`);
    expect(forms).toBe(1);
    current = async () => allow;
    expect(await opened.callTool(call)).toMatchObject({ content: [{ text: `deleted ${what}` }] });
    expect([forms, asked(what).length]).toEqual([2, 1]);
  });

  it('may have the same call made twice at the same time', async () => {
    const opened = await open(async () => allow);
    const call = { name: 'danger', arguments: { what: 'two' } };
    const results = await Promise.all([opened.callTool(call), opened.callTool(call)]);
    expect(results).toMatchObject([{ content: [{ text: 'deleted two' }] }, { content: [{ text: 'deleted two' }] }]);
    expect(asked('two')).toHaveLength(2);
  });
});
