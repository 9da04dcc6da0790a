import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { startSmallDaemon } from '../../small-daemon.ts';

type Small = Awaited<ReturnType<typeof startSmallDaemon>>;

const ann: Caller = { id: 'ann', role: 'caller' };

/** A plugin that calls whatever it is told to, and tells what came of it. */
const relay = (name: string, rest = '') => `
export default {
  name: '${name}', version: '1.0.0', description: 'Calls another tool.', permissions: { tools: ['*'] }, ${rest}
  handler: async ({ name, args, options }: { name: string; args?: any; options?: any }, context) => {
    try { return { output: await context.tools.call(name, args, options) }; }
    catch (error) { return { code: error.code, message: error.message }; }
  },
};`;

const plugins = {
  'relay.ts': relay('relay'),
  'relay_b.ts': relay('relay_b'),
  'kept_a.ts': relay('kept_a', "isolation: 'session',"),
  'kept_b.ts': relay('kept_b', "isolation: 'session',"),
  'kept_pair.ts': `
    const call = async ({ name, args }: { name: string; args?: any }, context) => {
      try { return { output: await context.tools.call(name, args) }; } catch (error) { return { code: error.code, message: error.message }; }
    };
    export default {
      name: 'kept_pair', isolation: 'session', description: 'Two tools in one cell.', permissions: { tools: ['*'] },
      tools: { pair_one: { description: 'One.', handler: call }, pair_two: { description: 'Two.', handler: () => 'two' } },
    };`,
  'kept_wiper.ts': `
    const call = async ({ name, args }: { name: string; args: any }, context) => {
      try { return { output: await context.tools.call(name, args) }; } catch (error) { return { code: error.code }; }
    };
    export default {
      name: 'kept_wiper', isolation: 'session', description: 'Two tools in one cell.', permissions: { tools: ['*'] },
      tools: { wiper_calls: { description: 'Calls.', handler: call }, wiper_wipes: { description: 'Wipes.', isDangerous: true, handler: () => 'wiped' } },
    };`,
  'echo.ts': `
    export default {
      version: '2.1.0', description: 'Says who calls.',
      handler: (args: any, context) => ({ args, caller: context.caller.id, session: context.session.id }),
    };`,
  'fails.ts': `
    export default {
      description: 'Fails.', permissions: { kv: true },
      handler: () => { throw new TypeError('no luck today'); },
    };`,
  'elevated.ts': "export default { description: 'For admins.', isElevated: true, handler: () => 'secret' };",
  'strict.ts': `
    export default { description: 'Needs a number.', handler: ({ n }: { n: number }) => n };`,
  'sleeps.ts': `
    export default { description: 'Sleeps.', handler: ({ ms }: { ms: number }) => new Promise((resolve) => setTimeout(resolve, ms, 'awake')) };`,
  'narrow.ts': `
    export default {
      description: 'May call echo alone.', permissions: { tools: ['ech*'] },
      handler: async ({ name }: { name?: string }, context) => {
        if (name === undefined) return context.tools.list();
        return context.tools.call(name).catch((error) => ({ code: error.code, message: error.message }));
      },
    };`,
  'counts.ts': `
    export default {
      description: 'Counts its calls.', permissions: { kv: true },
      handler: async ({ by }: { by: number }, { kv }) => { const n = Number(await kv.get('n')) + by; await kv.set('n', n); return n; },
    };`,
};

describe('createNestedCalls', () => {
  let small: Small;
  beforeAll(async () => {
    small = await startSmallDaemon(plugins);
  });
  afterAll(() => small.close());

  const output = async (ref: string, args: unknown, more: Parameters<Small['call']>[2] = {}) =>
    (await small.call(ref, args, more)).output;

  it('gives the other tool the caller and the session, and its output back', async () => {
    const answer = await output('relay', { name: 'echo@^2', args: { a: [1] } }, { caller: ann, session: 's-7' });
    expect(answer).toEqual({ output: { args: { a: [1] }, caller: 'ann', session: 's-7' } });
  });

  it('keeps a record of its own, that names the call above', async () => {
    const { executionId } = await small.call('relay', { name: 'echo', args: {} });
    const { items, total } = small.parts.executions.list({ parent: executionId }, ann);
    expect([items, total]).toEqual([[], 0]);
    const own = small.parts.executions.list({ parent: executionId }, { id: 'local', role: 'admin' });
    expect(own.items).toMatchObject([
      { tool: 'echo', version: '2.1.0', parent: executionId, status: 'success', caller: 'local' },
    ]);
    expect(small.parts.executions.get(executionId, { id: 'local', role: 'admin' })).not.toHaveProperty('parent');
  });

  it('throws the error of the other tool with its code', async () => {
    expect(await output('relay', { name: 'fails' })).toMatchObject({
      code: 'handler-threw',
      message: expect.stringContaining('no luck today'),
    });
    expect(await output('relay', { name: 'strict', args: { n: 'x' } })).toMatchObject({ code: 'arguments-invalid' });
    expect(await output('relay', { name: 'nothing' })).toEqual({
      code: 'tool-unknown',
      message: 'There is no tool "nothing". See context.tools.list() for the tools that can be called.',
    });
  });

  it('never has more rights than the caller', async () => {
    expect(await output('relay', { name: 'elevated' })).toEqual({ output: 'secret' });
    expect(await output('relay', { name: 'elevated' }, { caller: ann })).toMatchObject({ code: 'forbidden' });
    const boundCaller: Caller = { ...ann, tools: ['relay', 'narrow'] };
    expect(await output('narrow', {}, { caller: boundCaller })).toEqual([]);
  });

  it('reaches what the grant names, and does not tell of the rest', async () => {
    expect(await output('narrow', { name: 'echo' })).toMatchObject({ caller: 'local' });
    const refused = await output('narrow', { name: 'fails' });
    expect(refused).toEqual({
      code: 'permission-denied',
      message: 'Tool "narrow" may not call the tool "fails". Allow it with: hotcell grant narrow tools=fails',
    });
    expect(await output('narrow', { name: 'no_such_tool' })).toMatchObject({ code: 'permission-denied' });
    expect(await output('narrow', {})).toEqual([
      { name: 'echo', version: '2.1.0', description: 'Says who calls.', input: expect.any(Object) },
    ]);
  });

  it('notes what it used', async () => {
    const { executionId } = await small.call('relay', { name: 'echo' });
    const used = small.events.filter(({ type, subject }) => type === 'permission-use' && subject === executionId);
    expect(used.map(({ data }) => data)).toEqual([{ tool: 'relay', permission: 'tools', detail: 'echo', allowed: true }]);
  });

  it('refuses a circle, and names it', async () => {
    const circle = { name: 'relay_b', args: { name: 'relay', args: { name: 'echo' } } };
    expect(await output('relay', circle)).toEqual({
      output: {
        code: 'call-cycle',
        message: expect.stringContaining('relay@1.0.0 -> relay_b@1.0.0 -> relay@1.0.0'),
      },
    });
  });

  it('refuses a cell that a call above it holds, instead of waiting for itself', async () => {
    const round = { name: 'relay_b', args: { name: 'pair_two' } };
    expect(await output('pair_one', round, { session: 'own' })).toEqual({
      output: {
        code: 'call-cycle',
        message: expect.stringMatching(/could never begin: pair_one@0\.0\.0 -> relay_b@1\.0\.0 -> pair_two@0\.0\.0/),
      },
    });
    expect(await output('relay_b', { name: 'pair_two' }, { session: 'own' })).toEqual({ output: 'two' });
  });

  it('refuses one of two calls that wait for the cells of each other', async () => {
    // Each holds its own cell while the other asks for it; the gate is passed when both are there.
    const first = small.call('kept_a', { name: 'relay', args: { name: 'kept_b', args: { name: 'echo' } } }, { session: 'x' });
    const second = small.call('kept_b', { name: 'relay_b', args: { name: 'kept_a', args: { name: 'echo' } } }, { session: 'x' });
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ status }) => status)).toEqual(['success', 'success']);
    const refusals = answers.filter(({ output: got }) => JSON.stringify(got).includes('call-cycle'));
    expect(refusals.length).toBeLessThanOrEqual(1);
  });

  it('refuses a cell whose holder waits for a call that will want the cell of this one once a person lets it begin', async () => {
    const first = small.call('kept_b', { name: 'wiper_wipes', args: {} }, { session: 'y' });
    const boss = { id: 'boss', role: 'admin', mayAnswer: false, isPerson: true } as const;
    const open = () => small.parts.approvals.list({ status: 'open', limit: 10 });
    await expect.poll(open).toHaveLength(1);
    expect(await output('wiper_calls', { name: 'kept_b', args: { name: 'echo' } }, { session: 'y', timeoutMs: 15_000 })).toEqual({
      code: 'call-cycle',
    });
    for (const { id } of open()) small.parts.approvals.answer(id, 'approved', boss);
    expect((await first).output).toEqual({ output: 'wiped' });
  });

  it('gives a child the time that is left', async () => {
    const { executionId, status } = await small.call('relay', { name: 'sleeps', args: { ms: 60_000 } }, { timeoutMs: 300 });
    expect(status).toBe('timeout');
    const [child] = small.parts.executions.list({ parent: executionId }, { id: 'local', role: 'admin' }).items;
    expect(child?.status).toMatch(/timeout|cancelled/);
    expect(await output('relay', { name: 'sleeps', args: { ms: 60_000 }, options: { timeoutMs: 50 } })).toMatchObject({
      code: 'time-exceeded',
    });
  });

  it('is cancelled with the call above', async () => {
    const stop = new AbortController();
    const before = small.events.length;
    const call = small.call('relay', { name: 'sleeps', args: { ms: 60_000 } }, { signal: stop.signal });
    await expect
      .poll(() =>
        small.events
          .slice(before)
          .some(({ type, data }) => type === 'execution-start' && 'tool' in data && data.tool === 'sleeps'),
      )
      .toBe(true);
    stop.abort();
    const { executionId, status } = await call;
    expect(status).toBe('cancelled');
    await expect
      .poll(() => small.parts.executions.list({ parent: executionId }, { id: 'local', role: 'admin' }).items)
      .toMatchObject([{ tool: 'sleeps', status: 'cancelled' }]);
    expect(small.parts.caller.load()).toEqual({ pending: 0, running: 0 });
  });

  it('runs once under a key, which belongs to the plugin that chose it', async () => {
    const twice = { name: 'counts', args: { by: 1 }, options: { idempotencyKey: 'k' } };
    expect(await output('relay', twice)).toEqual({ output: 1 });
    expect(await output('relay', twice)).toEqual({ output: 1 });
    expect(await output('relay_b', twice)).toEqual({ output: 2 });
    expect(await output('counts', { by: 1 }, { idempotencyKey: 'k' })).toBe(3);
    expect(await output('relay', { ...twice, args: { by: 5 } })).toMatchObject({ code: 'idempotency-mismatch' });
  });

  it('bounds the depth', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `deep_${index}`);
    const deep = await startSmallDaemon(Object.fromEntries(names.map((name) => [`${name}.ts`, relay(name)])));
    const args = names.slice(1).reduceRight<unknown>((inner, name) => ({ name, args: inner }), {});
    const answer = await deep.call('deep_0', args);
    await deep.close();
    expect(JSON.stringify(answer.output)).toContain('call-too-deep');
    expect(JSON.stringify(answer.output).split('"output"').length).toBe(8);
  });
});

describe('parents that wait for their children', () => {
  it('hold no place: 500 of them end with four places', { timeout: 60_000 }, async () => {
    const { 'relay.ts': relayFile, 'relay_b.ts': relayB, 'echo.ts': echo } = plugins;
    const small = await startSmallDaemon(
      { 'relay.ts': relayFile, 'relay_b.ts': relayB, 'echo.ts': echo },
      { queue: { maxRunning: 4 } },
    );
    const args = { name: 'relay_b', args: { name: 'echo', args: {} } };
    const answers = await Promise.all(Array.from({ length: 500 }, () => small.call('relay', args)));
    expect(new Set(answers.map(({ output }) => JSON.stringify(output))).size).toBe(1);
    expect(answers[0]?.output).toMatchObject({ output: { output: { caller: 'local' } } });
    expect(small.parts.caller.load()).toEqual({ pending: 0, running: 0 });
    await small.close();
  });
});
