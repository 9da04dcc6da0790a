import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { RecordedAnswers } from '../../src/replay/recorded-answers.ts';
import type { ReplayOn } from '../../src/replay/replay-types.ts';
import { refuseUnforeseen } from '../../src/replay/replays.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const operator: Caller = { id: 'local', role: 'admin' };
const ann: Caller = { id: 'ann', role: 'caller' };
let requests = 0;
const server = createServer((request, response) => {
  requests++;
  response.end(JSON.stringify({ path: request.url, count: requests }));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;

const draws = `export default {
  name: 'draws', description: 'time, chance, settings, timers',
  permissions: { kv: true, net: ['127.0.0.1:${port}'], tools: ['echo'], env: ['UNIT'] },
  handler: async (args, context) => {
    const answer = await fetch('http://127.0.0.1:${port}/x?' + Math.random());
    const [one, two] = await Promise.all([context.tools.call('echo', { value: 1 }), context.kv.get('seen')]);
    await context.kv.set('seen', (two ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    let refused = '';
    try { context.env.get('SECRET'); } catch (error) { refused = error.message; }
    console.log('drawn');
    return { at: Date.now(), now: performance.now(), chance: Math.random(), id: crypto.randomUUID(), bytes: [...crypto.getRandomValues(new Uint8Array(4))],
      body: await answer.json(), one, two, refused, unit: context.config.get('unit') };
  },
};`;
const echo = `export default { name: 'echo', description: 'echo', handler: async (args) => args.value };`;
const counts = `export default { name: 'counts', description: 'counts', permissions: { kv: true },
  handler: async ({ step = 1 }, { kv }) => {
    const before = (await kv.get('count')) ?? 0;
    await kv.set('count', before + step);
    return { before };
  } };`;
const waits = `export default { name: 'waits', description: 'waits', timeoutMs: 200, permissions: { kv: true },
  handler: async (args, { kv }) => { await kv.get('x'); await new Promise((resolve) => setTimeout(resolve, 60000)); return 'late'; } };`;
const throws = `export default { name: 'throws', description: 'throws', handler: async ({ list }) => list.first.name };`;

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  const plugins = { 'draws.ts': draws, 'echo.ts': echo, 'counts.ts': counts, 'waits.ts': waits, 'throws.ts': throws };
  house = await startSmallDaemon(plugins, { plugins: { draws: { unit: 'km' } }, executions: { keepRecordingsPerTool: 5 } });
});
afterAll(async () => {
  await house.close();
  server.close();
});

const replay = (id: string, on: ReplayOn = {}, caller = operator) =>
  house.parts.replays.replay(id, on, { caller, signal: new AbortController().signal });

describe('replay', () => {
  it('gives the same code the same time, chance, settings and answers, and touches nothing', async () => {
    const call = await house.call('draws');
    expect(call.error).toBeUndefined();
    const before = { requests, executions: house.parts.executions.list({}, operator).total, events: house.events.length };
    const report = await replay(call.executionId);
    expect(report).toMatchObject({ same: true, isSameCode: true, asked: [], notes: [], engine: 'quickjs' });
    expect(report.now.output).toEqual(call.output);
    expect(report.logs.map(({ text }) => text)).toContain('drawn');
    expect({ requests, executions: house.parts.executions.list({}, operator).total, events: house.events.length }).toEqual(
      before,
    );
    expect((await house.call('draws')).output).toMatchObject({ two: 1 });
  });

  it('ends as a call that ran out of time did, without waiting as long', async () => {
    const call = await house.call('waits');
    expect(call.status).toBe('timeout');
    expect(await replay(call.executionId)).toMatchObject({ same: true, now: { status: 'timeout' }, asked: [] });
  });

  it('shows the same error', async () => {
    const call = await house.call('throws', { list: {} });
    expect(await replay(call.executionId)).toMatchObject({
      same: true,
      now: { status: 'error', error: { code: 'handler-threw', frames: [{ file: 'throws.ts', line: 1 }] } },
    });
  });

  it('says what other code asks that was not recorded, what it does not ask, and what came of it', async () => {
    const call = await house.call('counts', { step: 2 });
    const text = counts
      .replace("kv.set('count', before + step)", "kv.set('total', before)")
      .replace('{ before }', '{ before, step }');
    const report = await replay(call.executionId, { text });
    expect(report).toMatchObject({ isSameCode: false, same: false, difference: expect.stringContaining('permission-denied') });
    expect(report.asked).toEqual([
      'It asks kv.set {"key":"total","value":0}, which was not recorded; it was refused.',
      'It does not ask kv.set {"key":"count","value":2}, which was recorded.',
    ]);
    const other = await replay(call.executionId, { text: counts.replace('{ before }', '{ before, step }') });
    expect(other).toMatchObject({ same: false, difference: 'The output.step is new: 2.', asked: [] });
  });

  it('runs on a kept generation, by its number or its hash', async () => {
    const call = await house.call('echo', { value: 3 });
    const [kept] = house.parts.plugins.generations('echo');
    for (const generation of ['1', kept?.contentHash.slice(0, 10)]) {
      expect(await replay(call.executionId, { generation })).toMatchObject({ same: true, isSameCode: true });
    }
    const fix = 'See hotcell plugin history echo.';
    await expect(replay(call.executionId, { generation: '77' })).rejects.toMatchObject({ code: 'generation-unknown', fix });
  });

  it('is of the caller for its own executions, on the code that serves', async () => {
    const own = await house.call('echo', { value: 4 }, { caller: ann });
    const others = await house.call('echo', { value: 5 });
    expect(await replay(own.executionId, {}, ann)).toMatchObject({ same: true });
    expect(await replay(own.executionId)).toMatchObject({ same: true });
    await expect(replay(others.executionId, {}, ann)).rejects.toMatchObject({ code: 'execution-unknown' });
    await expect(replay(own.executionId, { text: echo }, ann)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(replay(own.executionId, { generation: '1' }, ann)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is refused beyond what one caller may replay at once', async () => {
    const { executionId } = await house.call('echo', { value: 6 }, { caller: ann });
    const replays = await Promise.allSettled(Array.from({ length: 3 }, () => replay(executionId, {}, ann)));
    expect(replays.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(replays[2]).toMatchObject({ reason: { code: 'queue-full' } });
  });

  it('says what is not recorded any more, and how much is kept', async () => {
    const first = await house.call('echo', { value: 'first' });
    for (let index = 0; index < 6; index++) await house.call('echo', { value: index });
    await expect(replay(first.executionId)).rejects.toMatchObject({
      code: 'not-replayable',
      message: expect.stringContaining('newest 5'),
    });
  });
});

describe('RecordedAnswers', () => {
  it('counts every question that was not recorded, and keeps few of their words', async () => {
    const answers = new RecordedAnswers([], {
      answerUnforeseen: refuseUnforeseen,
      tellsWaiting: true,
      onRecordingOver: () => {},
    });
    const payload = JSON.stringify({ value: 'x'.repeat(100_000) });
    for (let id = 1; id <= 200; id++) await answers.answer({ id, op: 'kv.set', payload }, new AbortController().signal);
    const { unforeseen } = answers.end();
    expect(unforeseen).toHaveLength(200);
    expect(unforeseen.reduce((sum, { payload: kept }) => sum + kept.length, 0)).toBeLessThan(2_000_000);
  });
});
