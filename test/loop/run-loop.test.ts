import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoopBounds } from '../../src/loop/loop-budget.ts';
import { findBreaches } from '../conversation/breaches.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { ask, loopPlugins, operator, readLoop, requestOf, say, sendParts, startModel, user } from './rig.ts';

let model: Awaited<ReturnType<typeof startModel>>;
let small: Awaited<ReturnType<typeof startSmallDaemon>>;

beforeAll(async () => {
  model = await startModel();
  const prices = { 'local/m-1': { input: 1, output: 1 } };
  small = await startSmallDaemon(loopPlugins, { models: { ...model.settings.models, prices } });
});
afterAll(async () => {
  await small.close();
  await model.close();
});

const weather = { weather: { ref: 'weather' } };
const run = async (id: string, bounds: Partial<LoopBounds> = {}, isStreamed = false) => {
  const request = requestOf(id, weather);
  const streamed = {
    ...request,
    conversation: { ...request.conversation, isStreamed },
    bounds: { ...request.bounds, ...bounds },
  };
  const before = model.seen.length;
  const read = await readLoop(small.parts.loops.run(streamed));
  expect(findBreaches([...read.end.messages, user('And now?')])).toEqual([]);
  return { ...read, asked: model.seen.length - before };
};
const executions = () => small.parts.executions.list({ tool: 'weather', limit: 500 }, operator).total;

/** A stream without an end, as fast as it is read. */
function streamForEver(response: ServerResponse, first: string, more: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const push = (): void => {
    while (!response.destroyed && response.write(`data: ${more}\n\n`));
  };
  response.on('drain', push);
  response.write(`data: ${first}\n\n`);
  push();
}

describe('a loop with a model that means harm', () => {
  it('ends when the same call is asked for, for ever', async () => {
    const before = executions();
    model.always((_request, response) => sendParts(response, [ask('weather', 'same', { city: 'Oslo' })]));
    const { end, asked } = await run('same-for-ever', { followUps: 100 });
    expect([end.reason, asked, executions() - before]).toEqual(['repeated', 7, 5]);
    expect(end.answer).toMatchObject({ parts: [], stop: { kind: 'end' } });
    expect(model.seen.at(-1)?.body.tool_choice).toBe('none');
  });

  it('ends when other calls are asked for, for ever', async () => {
    let count = 0;
    model.always((_request, response) => sendParts(response, [ask('weather', `c${++count}`, { city: `C${count}` })]));
    expect((await run('others-for-ever')).asked).toBe(6);
  });

  it('runs 32 of 500 calls in a turn', async () => {
    const before = executions();
    const calls = Array.from({ length: 500 }, (_, index) => ask('weather', `c${index}`, { city: `T${index}` }));
    model.always((_request, response) => sendParts(response, [say('enough')]));
    model.next((_request, response) => sendParts(response, calls));
    const { end, events } = await run('five-hundred');
    expect([end.reason, executions() - before]).toEqual(['answered', 32]);
    expect(events.filter(({ type }) => type === 'call-end')).toHaveLength(500);
    expect(model.lastResults()).toHaveLength(500);
  });

  it('does not run a call with 5 MB of arguments, whole or cut', async () => {
    const before = executions();
    model.always((_request, response) => sendParts(response, [say('enough')]));
    model.next((_request, response) => sendParts(response, [ask('weather', 'big', { city: 'x'.repeat(5_000_000) })]));
    const { end } = await run('flood');
    expect([end.reason, executions() - before]).toEqual(['answered', 0]);
    expect(model.lastResults()[0]).toContain('payload-too-large');
  });

  it('stops to read an answer without an end', async () => {
    const chunk = JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'and '.repeat(1000) } }] });
    model.next((_request, response) => streamForEver(response, chunk, chunk));
    const { end, asked } = await run('endless', { maxAnswerBytes: 100_000 }, true);
    expect([end.reason, asked, end.answer.failure?.kind]).toEqual(['model-failed', 1, 'too-large']);
  });

  it('stops to read arguments without an end, and runs nothing of them', async () => {
    const before = executions();
    const first = { index: 0, id: 'e1', type: 'function', function: { name: 'weather', arguments: '{"city":"' } };
    const chunk = (call: object) => JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { tool_calls: [call] } }] });
    const more = chunk({ index: 0, function: { arguments: 'x'.repeat(4000) } });
    model.next((_request, response) => streamForEver(response, chunk(first), more));
    const { end } = await run('endless-arguments', { maxAnswerBytes: 100_000 }, true);
    expect([end.reason, executions() - before]).toEqual(['model-failed', 0]);
  });

  it('waits no longer than its time for a model that never answers', async () => {
    model.next(() => {});
    const { end, asked } = await run('never', { timeoutMs: 200 });
    expect([end.reason, asked, end.answer.parts]).toEqual(['deadline', 1, []]);
  });

  it('ends when its money is used up, and says what it cost', async () => {
    let count = 0;
    model.always((_request, response) => sendParts(response, [ask('weather', `m${++count}`, { city: `M${count}` })]));
    const { end, asked } = await run('money', { maxCost: 0.00002 });
    expect([end.reason, asked, end.cost]).toEqual(['money', 2, 0.00003]);
  });

  it('tells what the model failed of', async () => {
    model.always(
      (_request, response) =>
        void response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"No."}}'),
    );
    const { end } = await run('failed');
    expect(end).toMatchObject({ reason: 'model-failed', answer: { failure: { status: 400, message: 'No.' } } });
  });

  it('gives calls with the same id ids of their own, in one turn and over turns', async () => {
    model.always((_request, response) => sendParts(response, [say('enough')]));
    const twice = [ask('weather', 'call_0', { city: 'A' }), ask('weather', 'call_0', { city: 'B' })];
    model.next((_request, response) => sendParts(response, twice));
    model.next((_request, response) => sendParts(response, twice));
    const { end, events } = await run('same-ids');
    const ids = events.flatMap((event) => (event.type === 'call-end' ? [event.callId] : []));
    expect([
      end.reason,
      new Set(ids).size,
      events.filter((event) => event.type === 'call-end' && event.status === 'success').length,
    ]).toEqual(['answered', 4, 4]);
  });
});

describe('calls of one turn', () => {
  const disks = ['A', 'B', 'C'];
  const deny = (id: string) =>
    small.parts.approvals.answer(id, 'denied', { id: 'local', role: 'admin', mayAnswer: true, isPerson: true });
  const openQuestions = () => small.parts.approvals.list({ status: 'open', limit: 100 }).length;
  /** How many questions were open when each of them was asked. */
  async function countWaiting(id: string, tool: string, answersAt: number): Promise<number[]> {
    model.always((_request, response) => sendParts(response, [say('enough')]));
    model.next((_request, response) =>
      sendParts(
        response,
        disks.map((disk) => ask(tool, disk, { disk })),
      ),
    );
    const counts: number[] = [];
    const waiting: string[] = [];
    for await (const event of small.parts.loops.run(requestOf(id, { [tool]: { ref: tool } }))) {
      if (event.type !== 'call-waiting') continue;
      counts.push(openQuestions());
      waiting.push(event.approval);
      if (waiting.length === answersAt) for (const approval of waiting.splice(0)) deny(approval);
    }
    return counts;
  }

  it('run one after the other where their tools are not marked for more', async () => {
    expect(await countWaiting('in-turn', 'wiper', 1)).toEqual([1, 1, 1]);
  });

  it('run side by side where their tools are marked for it', async () => {
    expect((await countWaiting('side-by-side', 'fastwiper', 3)).at(-1)).toBe(3);
  });
});
