import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, ann, bob, type CallingHouse, openHouse } from '../tools/calling-house.ts';

let house: CallingHouse;
beforeAll(async () => {
  house = await openHouse();
  await house.publish('greet', '{ handler: (args) => "Hello " + args.name }', {
    tool: {
      input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
    },
  });
});
afterAll(() => house.close());

describe('createToolCaller', () => {
  it('runs a tool and leaves a committed record', async () => {
    const answer = await house.caller.call({ ref: 'greet@^1', arguments: { name: 'Ann' }, caller: ann, session: 's1' });
    expect(answer).toMatchObject({ status: 'success', output: 'Hello Ann' });
    expect(answer.executionId).toMatch(/^exe_[0-9a-z]{26}$/);
    expect(house.reader.get(answer.executionId, ann)).toMatchObject({
      tool: 'greet',
      version: '1.0.0',
      caller: 'ann',
      session: 's1',
      status: 'success',
      arguments: { name: 'Ann' },
      output: 'Hello Ann',
      attempts: 1,
      durationMs: answer.durationMs,
    });
    expect(house.seen.map(({ type, subject }) => [type, subject])).toEqual([
      ['execution-start', answer.executionId],
      ['execution-end', answer.executionId],
    ]);
    expect(house.leases.open).toBe(0);
  });

  it('refuses arguments that do not fit, and records nothing', async () => {
    const before = house.reader.list({}, admin).total;
    const refused = house.caller.call({ ref: 'greet', arguments: { nam: 'x' }, caller: ann });
    await expect(refused).rejects.toMatchObject({
      code: 'arguments-invalid',
      status: 400,
      message:
        'The arguments do not fit greet@1.0.0: name: expected text (it is required), got "nam" instead; nam: expected only name, got the text "x" (did you mean "name"?).',
    });
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const [given, code] of [
      ['text', 'arguments-invalid'],
      [[1], 'arguments-invalid'],
      [cyclic, 'arguments-invalid'],
      [{ name: 'x'.repeat(2_000_000) }, 'payload-too-large'],
    ] as const) {
      await expect(house.caller.call({ ref: 'greet', arguments: given, caller: ann })).rejects.toMatchObject({ code });
    }
    expect(house.reader.list({}, admin).total).toBe(before);
  });

  it('refuses unknown tools with near names', async () => {
    const refused = house.caller.call({ ref: 'great', arguments: {}, caller: ann });
    await expect(refused).rejects.toMatchObject({
      code: 'tool-unknown',
      message: 'There is no tool "great". Did you mean "greet"?',
    });
  });

  it('records what the handler throws', async () => {
    await house.publish('breaks', '{ handler: () => { throw new TypeError("no luck") } }');
    const answer = await house.caller.call({ ref: 'breaks', arguments: {}, caller: ann });
    expect(answer).toMatchObject({
      status: 'error',
      error: { code: 'handler-threw', message: expect.stringContaining('no luck') },
    });
    expect(house.reader.get(answer.executionId, ann)).toMatchObject({ status: 'error', error: answer.error });
  });

  it('stops a tool at its time-out and records it as such', async () => {
    await house.publish('sleeps', '{ handler: () => new Promise((resolve) => setTimeout(resolve, 60000)) }', {
      tool: { timeoutMs: 50 },
    });
    const answer = await house.caller.call({ ref: 'sleeps', arguments: {}, caller: ann });
    expect(answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    expect(house.reader.get(answer.executionId, ann).status).toBe('timeout');
    const shorter = await house.caller.call({ ref: 'sleeps', arguments: {}, caller: ann, timeoutMs: 20 });
    expect(shorter.error?.message).toContain('20 ms');
  });

  it('checks the output against a declared schema', async () => {
    await house.publish('counts', '{ handler: (args) => args.value }', { tool: { output: { type: 'integer' } } });
    const good = await house.caller.call({ ref: 'counts', arguments: { value: 3 }, caller: ann });
    const bad = await house.caller.call({ ref: 'counts', arguments: { value: 'x' }, caller: ann });
    expect([good.status, good.output]).toEqual(['success', 3]);
    expect(bad.error).toMatchObject({
      code: 'output-invalid',
      message: 'The output does not fit the output schema of counts: expected an integer, got the text "x".',
    });
  });

  it('tries an idempotent tool again, and no other', async () => {
    const flaky = '{ handler: () => { if (Math.random() >= 0) throw new Error("again") } }';
    await house.publish('flaky', flaky, { tool: { idempotent: true, retries: 2 } });
    await house.publish('once', flaky, { tool: { idempotent: false, retries: 2 } });
    const again = await house.caller.call({ ref: 'flaky', arguments: {}, caller: ann });
    const once = await house.caller.call({ ref: 'once', arguments: {}, caller: ann });
    const attempts = [again, once].map(({ executionId }) => house.reader.get(executionId, ann).attempts);
    expect([again.status, once.status, attempts]).toEqual(['error', 'error', [3, 1]]);
  });

  it('keeps recordings of failures, and of the newest successes', async () => {
    await house.publish(
      'asks',
      '{ handler: async (args, context) => { const got = await context.kv.get(args.key); if (args.fail) throw new Error(got); return got; } }',
    );
    const ids: string[] = [];
    for (let round = 0; round < 5; round++) {
      ids.push((await house.caller.call({ ref: 'asks', arguments: { key: `k${round}` }, caller: ann })).executionId);
    }
    const failed = await house.caller.call({ ref: 'asks', arguments: { key: 'bad', fail: true }, caller: ann });
    const kept = await Promise.all([...ids, failed.executionId].map((id) => house.caller.readRecording(id)));
    expect(kept.map((recording) => recording?.crossings.length)).toEqual([undefined, undefined, 1, 1, 1, 1]);
    expect(kept[5]?.crossings[0]).toMatchObject({
      op: 'kv.get',
      payload: '{"key":"bad"}',
      answer: { ok: true, payload: '"kv.get"' },
    });
  });

  it('tells log lines and progress as they come', async () => {
    await house.publish(
      'talks',
      '{ handler: (args, context) => { context.log.info("half way"); context.progress(1, 2, "half"); return 1; } }',
    );
    const lines: string[] = [];
    const request = { ref: 'talks', arguments: {}, caller: ann, onLog: (line: { text: string }) => lines.push(line.text) };
    const { executionId } = await house.caller.call(request);
    const told = house.seen.filter(({ subject }) => subject === executionId).map(({ type }) => type);
    expect(lines).toEqual(['half way']);
    expect(told).toEqual(['execution-start', 'execution-log', 'execution-progress', 'execution-end']);
  });

  it('shows a caller its own executions only', async () => {
    const { executionId } = await house.caller.call({ ref: 'greet', arguments: { name: 'A' }, caller: ann });
    expect(() => house.reader.get(executionId, bob)).toThrow(expect.objectContaining({ code: 'execution-unknown' }));
    expect(() => house.caller.cancel(executionId, bob)).toThrow(expect.objectContaining({ code: 'execution-unknown' }));
    expect(house.reader.list({ caller: 'ann' }, bob)).toEqual({ items: [], total: 0 });
    expect(house.reader.get(executionId, admin).id).toBe(executionId);
    const first = house.reader.list({ limit: 1, caller: 'ann' }, admin);
    const second = house.reader.list({ limit: 1, caller: 'ann', ...(first.next && { cursor: first.next }) }, admin);
    expect(first.items[0]?.id).toBe(executionId);
    expect(String(second.items[0]?.id) < executionId).toBe(true);
    expect(() => house.reader.list({ cursor: 'zzz' }, admin)).toThrow(expect.objectContaining({ code: 'body-invalid' }));
  });

  it('keeps the state of a session for the same caller and session only', async () => {
    await house.publish('counter', '(() => { let count = 0; return { handler: () => ++count }; })()', {
      manifest: { isolation: 'session' },
    });
    const call = (caller: typeof ann, session: string) => house.caller.call({ ref: 'counter', arguments: {}, caller, session });
    const answers = await Promise.all([call(ann, 'a'), call(ann, 'a'), call(ann, 'b'), call(bob, 'a'), call(ann, 'a')]);
    expect(answers.map(({ output }) => output)).toEqual([1, 2, 1, 1, 3]);
  });

  it('ends the session of a caller without a token with its call', async () => {
    await house.publish('forgets', '(() => { let count = 0; return { handler: () => ++count }; })()', {
      manifest: { isolation: 'session' },
    });
    const stranger = { id: 'anonymous:1', role: 'caller', isAnonymous: true } as const;
    const call = () => house.caller.call({ ref: 'forgets', arguments: {}, caller: stranger, session: 'a' });
    expect([(await call()).output, (await call()).output]).toEqual([1, 1]);
  });

  it('does not begin a call whose key was revoked while it was accepted', async () => {
    const revoking = await openHouse({
      parts: {
        beforeCall: {
          wants: () => true,
          ask: async ({ arguments: args, caller }) => {
            revoking.caller.shutOut(caller.id);
            return args;
          },
        },
      },
    });
    await revoking.publish('quick', '{ handler: () => 1 }');
    const answer = await revoking.caller.call({ ref: 'quick', arguments: {}, caller: ann });
    expect(answer).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
    await revoking.close();
  });

  it('needs a grant for a cell that all callers share', async () => {
    const plugin = '(() => { let count = 0; return { handler: () => ++count }; })()';
    await house.publish('shared', plugin, { manifest: { isolation: 'plugin' } });
    await expect(house.caller.call({ ref: 'shared', arguments: {}, caller: ann })).rejects.toMatchObject({
      code: 'permission-denied',
      fix: expect.stringContaining('hotcell grant shared sharedCell'),
    });
    await house.publish('shared', plugin, { manifest: { isolation: 'plugin' }, granted: { sharedCell: true } });
    const answers = [ann, bob].map((caller) => house.caller.call({ ref: 'shared', arguments: {}, caller }));
    expect((await Promise.all(answers)).map(({ output }) => output)).toEqual([1, 2]);
  });

  it('says a fault of the engine under the id of the execution only', async () => {
    const broken = await openHouse({
      engine: {
        name: 'quickjs',
        load: async () => ({ ok: true, exported: {}, warnings: [] }),
        run: () => Promise.reject(new Error('secret /host/path')),
        discard: () => {},
        close: async () => {},
      },
    });
    await broken.publish('any', '{}');
    const answer = await broken.caller.call({ ref: 'any', arguments: {}, caller: ann });
    expect(answer.error).toMatchObject({ code: 'engine-failed', message: expect.not.stringContaining('secret') });
    expect(broken.faults).toHaveLength(1);
    await broken.close();
  });
});
