import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { beforeHook, echo, type HookHouse, openHookHouse } from './hook-house.ts';

describe('createBeforeCall', () => {
  let house: HookHouse;
  const other = "export default { name: 'other', description: 'Other.', handler: async () => 'done' };";
  const outer =
    "export default { name: 'outer', description: 'o', permissions: { tools: ['echo'] }, handler: async (_: {}, context: any) => (await context.tools.call('echo', { text: 'bad' })) };";
  beforeAll(async () => {
    house = await openHookHouse({}, { plugins: { 'echo.ts': echo, 'other.ts': other, 'outer.ts': outer } });
  });
  afterEach(() => house.clear());
  afterAll(() => house.close());

  async function open(hooks: Readonly<Record<string, Readonly<Record<string, string>>>>) {
    for (const [name, files] of Object.entries(hooks)) house.write(name, files);
    for (const name of Object.keys(hooks)) await house.approve(name);
  }

  const countCalls = () => house.parts.executions.list({ tool: 'echo' }, { id: 'local', role: 'admin' }).total;

  it('lets a call pass that no hook objects to, and changes nothing of it', async () => {
    await open({ watcher: beforeHook('') });
    expect((await house.call('echo', { text: 'hello' })).output).toEqual({ text: 'hello' });
    expect(house.runs('watcher')).toMatchObject([{ status: 'success', caller: 'hook:watcher', session: 'default' }]);
  });

  it('stops a call with the sentence of the hook, which leaves no record of the call', async () => {
    await open({ guard: beforeHook("if (event.context.arguments.text === 'bad') return { veto: 'that is a bad word.' };") });
    const before = countCalls();
    expect(await house.refusal({ text: 'bad' })).toMatchObject({
      code: 'hook-refused',
      status: 403,
      message: 'The hook "guard" refused this call of echo: that is a bad word.',
    });
    expect(countCalls()).toBe(before);
    const { data } = await house.event('hook-refusal');
    expect(data).toMatchObject({ tool: 'echo', code: 'hook-refused' });
    expect((await house.call('echo', { text: 'good' })).status).toBe('success');
  });

  it('understands a refusal in the words of other systems', async () => {
    await open({ guard: beforeHook("return { block: true, blockReason: 'not on Sundays' };") });
    expect(await house.refusal({ text: 'x' })).toMatchObject({
      code: 'hook-refused',
      message: expect.stringContaining('Sundays'),
    });
  });

  it('takes changed arguments, one hook after the other in the order of their names', async () => {
    const add = (letter: string) => beforeHook(`return { arguments: { text: event.context.arguments.text + '${letter}' } };`);
    await open({ 'b-second': add('b'), 'a-first': add('a'), 'c-third': add('c') });
    expect((await house.call('echo', { text: '' })).output).toEqual({ text: 'abc' });
    const [record] = house.parts.executions.list({ tool: 'echo' }, { id: 'local', role: 'admin' }).items;
    expect(record?.arguments).toEqual({ text: 'abc' });
  });

  it('asks no later hook once one said no', async () => {
    await open({ 'a-first': beforeHook("return { veto: 'no' };"), 'b-second': beforeHook('') });
    expect(await house.refusal({ text: 'x' })).toMatchObject({ code: 'hook-refused' });
    expect([house.runs('a-first').length, house.runs('b-second').length]).toEqual([1, 0]);
  });

  it('stops a call whose changed arguments do not fit the tool', async () => {
    await open({ breaker: beforeHook('return { arguments: { text: 7 } };') });
    expect(await house.refusal({ text: 'x' })).toMatchObject({
      code: 'hook-failed',
      message: expect.stringContaining('do not fit'),
    });
  });

  it('stops the call when what was approved does not compile', async () => {
    await open({ bad: { ...beforeHook(''), 'handler.ts': 'export default async (event => {' } });
    expect(house.parts.hooks.get('bad')).toMatchObject({ state: 'failed', problem: expect.stringContaining('handler.ts:1') });
    expect(await house.refusal({ text: 'x' })).toMatchObject({
      code: 'hook-failed',
      message: expect.stringContaining('cannot run (compile-failed)'),
    });
  });

  it('tells the handler of the call, and asks about the tools that it names only', async () => {
    await open({ guard: beforeHook('return { veto: JSON.stringify(event) };', 'tools: ["ec*"]') });
    expect((await house.call('other')).output).toBe('done');
    const { message } = (await house.refusal({ text: 'x' }, { session: 's1' })) as Error;
    expect(JSON.parse(message.slice(message.indexOf('{')))).toMatchObject({
      event: 'tool:before',
      type: 'tool',
      action: 'before',
      sessionKey: 's1',
      timestamp: expect.stringMatching(/^20/),
      context: { tool: 'echo', plugin: 'echo', version: '0.0.0', caller: 'local', session: 's1', arguments: { text: 'x' } },
    });
    expect(house.runs('guard').map(({ session }) => session)).toEqual(['s1']);
  });

  it('is asked about calls that are valid and allowed only, and about calls within calls', async () => {
    await open({
      guard: beforeHook("if (event.context.arguments.text === 'bad') return { veto: 'inner no' };", 'tools: [echo]'),
    });
    expect(await house.refusal({ wrong: 1 })).toMatchObject({ code: 'arguments-invalid' });
    expect(house.runs('guard')).toEqual([]);
    const answer = await house.call('outer');
    expect([answer.status, answer.error?.message]).toEqual(['error', expect.stringContaining('inner no')]);
    expect(house.runs('guard')[0]?.arguments).toMatchObject({ context: { parent: answer.executionId } });
  });

  it('ends with the call that was cancelled, as cancelled', async () => {
    await open({ slow: beforeHook('await new Promise((resolve) => setTimeout(resolve, 20_000));', 'timeoutMs: 30000') });
    const cancel = new AbortController();
    const refused = house.refusal({ text: 'x' }, { signal: cancel.signal });
    await house.event('execution-start', ({ data }) => data.tool === 'hook:slow');
    cancel.abort();
    expect(await refused).toMatchObject({ code: 'cancelled' });
    expect(house.runs('slow')).toMatchObject([{ status: 'cancelled' }]);
  });

  it('counts a call that waits for its hook as under way', async () => {
    await open({ slow: beforeHook('await new Promise((resolve) => setTimeout(resolve, 20_000));', 'timeoutMs: 30000') });
    const cancel = new AbortController();
    const caller = { id: 'ann', role: 'caller', maxConcurrent: 1 } as const;
    const first = house.refusal({ text: 'x' }, { caller, signal: cancel.signal });
    await house.event('execution-start', ({ data }) => data.tool === 'hook:slow');
    expect(await house.refusal({ text: 'y' }, { caller })).toMatchObject({ code: 'rate-limited' });
    cancel.abort();
    expect(await first).toMatchObject({ code: 'cancelled' });
  });

  it('gets what its HOOK.md asks for with the approval, and nothing else', async () => {
    const count = "await context.kv.set('n', ((await context.kv.get('n')) ?? 0) + 1);";
    await open({
      counts: beforeHook(count, 'permissions: { kv: true }'),
    });
    expect((await house.call('echo', { text: 'x' })).status).toBe('success');
    house.write('counts', beforeHook(count));
    await house.approve('counts');
    expect(await house.refusal({ text: 'x' })).toMatchObject({ code: 'hook-failed' });
    expect(house.runs('counts').at(-1)?.error).toMatchObject({ message: expect.stringContaining('kv') });
  });
});

describe('a hook that fails', () => {
  let house: HookHouse;
  beforeAll(async () => {
    house = await openHookHouse();
  });
  afterAll(() => house.close());

  it.each([
    ['throws', "throw new Error('a secret of the hook');", 'failed (handler-threw)'],
    ['never ends', 'for (;;) {}', 'did not answer within 300 ms'],
    ['waits too long', 'await new Promise((resolve) => setTimeout(resolve, 60_000));', 'did not answer within 300 ms'],
    ['answers text', "return 'no';", 'neither a veto nor arguments'],
    ['answers what looks like a veto', "return { vetoed: 'no' };", 'neither a veto nor arguments'],
    ['answers arguments that are no object', 'return { arguments: [1] };', 'neither a veto nor arguments'],
    ['answers more than a call may', "return { veto: 'x'.repeat(2e6) };", 'failed (output-exceeded)'],
    ['asks a person', "await context.confirm('May I?');", 'failed (not-supported)'],
    ['calls a tool', "await context.tools.call('echo', { text: 'me' });", 'failed (not-supported)'],
    ['reaches for the network', "await fetch('http://127.0.0.1:1/');", 'failed (permission-denied)'],
  ])('stops the call when it %s', async (what, body, said) => {
    const name = what.replaceAll(' ', '-');
    const isAboutTime = said.includes('300 ms');
    house.write(name, beforeHook(body, `timeoutMs: ${isAboutTime ? 300 : 20_000}`));
    expect(await house.approve(name)).toMatchObject({ state: 'active' });
    const refusal = await house.refusal({ text: 'x' });
    house.remove(name);
    expect(refusal).toMatchObject({ code: 'hook-failed', status: 502, message: expect.stringContaining(said) });
    expect(JSON.stringify(refusal)).not.toContain('a secret of the hook');
    expect(house.runs(name).length).toBe(1);
  });

  it('is no hook any more once its folder is gone', async () => {
    expect((await house.call('echo', { text: 'x' })).status).toBe('success');
    await house.parts.hooks.refresh();
    expect(house.parts.hooks.list()).toEqual([]);
  });
});
