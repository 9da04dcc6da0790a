import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { quotas } from '../../src/config/quotas.ts';
import type { LoopEvent } from '../../src/loop/loop.ts';
import { findBreaches } from '../conversation/breaches.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { ask, loopPlugins, operator, readLoop, requestOf, say, sendParts, startModel, steps, user } from './rig.ts';

let model: Awaited<ReturnType<typeof startModel>>;
let small: Awaited<ReturnType<typeof startSmallDaemon>>;

beforeAll(async () => {
  model = await startModel();
  small = await startSmallDaemon(loopPlugins, model.settings);
});
afterAll(async () => {
  await small.close();
  await model.close();
});

const weather = { weather: { ref: 'weather' } };
const wiper = { wiper: { ref: 'wiper' } };
const open = async (executionId?: string) => {
  const find = () =>
    small.parts.approvals
      .list({ status: 'open', limit: 100 })
      .find((each) => executionId === undefined || each.executionId === executionId);
  await until(() => find() !== undefined, 'a question');
  return find()?.id ?? '';
};
const approve = (id: string, answer: 'approved' | 'denied' = 'approved') =>
  small.parts.approvals.answer(id, answer, { id: 'local', role: 'admin', mayAnswer: true, isPerson: true });

/** Reads until something happens; the rest is read by `rest`. */
async function readUntil(events: AsyncIterable<LoopEvent>, type: LoopEvent['type']) {
  const iterator = events[Symbol.asyncIterator]();
  const seen: LoopEvent[] = [];
  for (;;) {
    const { value, done } = await iterator.next();
    if (done) throw new Error(`no ${type} in ${steps(seen)}`);
    seen.push(value);
    if (value.type === type) return { seen, event: value, rest: { [Symbol.asyncIterator]: () => iterator } };
  }
}

describe('Loops.run', () => {
  it('asks, calls, asks again and tells every step', async () => {
    model.say([say('Let me see.'), ask('weather', 'c1', { city: 'Oslo' }), ask('weather', 'c2', { city: 'Rome' })]);
    model.say([say('Seven degrees.')]);
    const { events, end } = await readLoop(small.parts.loops.run(requestOf('first', weather)));
    expect(steps(events).sort()).toEqual(
      ['round-start', 'call-start c1', 'call-start c2', 'call-end c1', 'call-end c2', 'round-start', 'loop-end'].sort(),
    );
    expect(end).toMatchObject({ reason: 'answered', rounds: 2, usage: { inputTokens: 20, outputTokens: 10 }, untaken: [] });
    expect(end.answer.parts).toEqual([say('Seven degrees.')]);
    expect(end.messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
    expect(findBreaches(end.messages)).toEqual([]);
    expect(model.lastResults()).toEqual(['{"city":"Oslo","degrees":7,"runs":1}', '{"city":"Rome","degrees":7,"runs":1}']);
    const ran = events.find((event) => event.type === 'call-end');
    const { items } = small.parts.executions.list({ tool: 'weather' }, operator);
    expect(items.map(({ id }) => id)).toContain(ran?.type === 'call-end' ? ran.executionId : '');
    expect(small.parts.loops.get('first', operator)).toMatchObject({ state: 'ended', rounds: 2, end: { reason: 'answered' } });
  });

  it('leaves the calls of the client to the client, and has its own with their results', async () => {
    model.say([ask('Read', 'r1', { file: 'a' }), ask('weather', 'w1', { city: 'Bern' })]);
    const { end } = await readLoop(small.parts.loops.run(requestOf('mixed', weather, { declared: ['Read'] })));
    expect(end.reason).toBe('client-calls');
    expect(end.answer.parts).toEqual([ask('Read', 'r1', { file: 'a' })]);
    expect(end.messages.at(-1)).toMatchObject({ role: 'tool', parts: [{ callId: 'w1', isError: false }] });
  });

  it('has the model read what went wrong, and goes on', async () => {
    model.say([
      ask('weather', 'a', { city: 'Atlantis' }),
      ask('weather', 'b', { town: 'Oslo' }),
      ask('wether', 'c', {}),
      ask('sleeper', 'd', {}),
    ]);
    const { end } = await readLoop(small.parts.loops.run(requestOf('wrong', weather)));
    expect(end.reason).toBe('answered');
    const [thrown, invalid, unknown, untold] = model.lastResults();
    expect(thrown).toContain('It is under water.');
    expect(invalid).toContain('arguments-invalid');
    expect(unknown).toContain('Did you mean "weather"?');
    // A tool that is there, but that this model was not told of.
    expect(untold).toContain('There is no tool "sleeper"');
    expect(small.parts.executions.list({ tool: 'sleeper' }, operator).items).toEqual([]);
  });

  it('calls with the rights of the caller, as a model does', async () => {
    const key = small.parts.keys.create({ name: 'narrow', role: 'caller', rules: { tools: ['wiper'] } });
    const caller = small.parts.keys.current(key.row.id);
    if (caller === undefined) throw new Error('no key');
    model.say([ask('weather', 'a', { city: 'Oslo' })]);
    await readLoop(small.parts.loops.run(requestOf('rights', weather, { caller })));
    expect(model.lastResults()[0]).toContain('tool-unknown');
  });

  it('waits for a person in the middle, and its clock stands still meanwhile', async () => {
    model.say([ask('wiper', 'w1', { disk: 'C' })]);
    const { event, rest } = await readUntil(small.parts.loops.run(requestOf('asks', wiper)), 'call-waiting');
    expect(small.parts.loops.get('asks', operator)).toMatchObject({ state: 'running', calls: [{ callId: 'w1', name: 'wiper' }] });
    if (event.type !== 'call-waiting') throw new Error('not waiting');
    expect(event.approval).toBe(await open(event.executionId));
    approve(event.approval);
    const { end } = await readLoop(rest);
    expect([end.reason, model.lastResults()]).toEqual(['answered', ['wiped C 1']]);
  });

  it('has the model read that a person said no', async () => {
    model.say([ask('wiper', 'w1', { disk: 'D' })]);
    const { event, rest } = await readUntil(small.parts.loops.run(requestOf('denied', wiper)), 'call-waiting');
    approve(event.type === 'call-waiting' ? event.approval : '', 'denied');
    const { end } = await readLoop(rest);
    expect([end.reason, model.lastResults()[0]]).toEqual(['answered', expect.stringContaining('approval-denied')]);
  });

  it('takes in what is said in between, after the results', async () => {
    model.say([ask('wiper', 'w1', { disk: 'E' })]);
    const { event, rest } = await readUntil(small.parts.loops.run(requestOf('steered', wiper)), 'call-waiting');
    small.parts.loops.steer('steered', operator, [user('Be brief.')]);
    approve(event.type === 'call-waiting' ? event.approval : '');
    const { events, end } = await readLoop(rest);
    expect(steps(events)).toEqual(['call-end w1', 'steered', 'round-start', 'loop-end']);
    expect(model.seen.at(-1)?.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'Be brief.' });
    expect(findBreaches(end.messages)).toEqual([]);
    expect(() => small.parts.loops.steer('steered', operator, [user('Late.')])).toThrow(/has ended/);
  });

  it('takes no more in than waits to be read', async () => {
    model.say([ask('wiper', 'w1', { disk: 'F' })]);
    const { event, rest } = await readUntil(small.parts.loops.run(requestOf('floods', wiper)), 'call-waiting');
    const many = Array.from({ length: quotas['loop.steering'].each.max }, () => user('More.'));
    small.parts.loops.steer('floods', operator, many);
    expect(() => small.parts.loops.steer('floods', operator, [user('More.')])).toThrow(/wait to be taken/);
    approve(event.type === 'call-waiting' ? event.approval : '');
    expect((await readLoop(rest)).end.reason).toBe('answered');
  });

  it('is cancelled in the middle of a call, whose end it has still', async () => {
    model.say([ask('wiper', 'w1', { disk: 'G' })]);
    const { event, rest } = await readUntil(small.parts.loops.run(requestOf('cancelled', wiper)), 'call-waiting');
    expect(small.parts.loops.cancel('cancelled', operator)).toBe(true);
    const { end } = await readLoop(rest);
    expect(end.reason).toBe('cancelled');
    expect(findBreaches([...end.messages, user('And now?')])).toEqual([]);
    const executionId = event.type === 'call-waiting' ? event.executionId : '';
    expect(small.parts.executions.get(executionId, operator).status).toBe('cancelled');
    expect(small.parts.loops.cancel('cancelled', operator)).toBe(false);
  });

  it('goes on by itself when its reader leaves, and whoever follows it gets the end', async () => {
    model.say([ask('wiper', 'w1', { disk: 'H' })]);
    const reading = small.parts.loops.run(requestOf('alone', wiper));
    for await (const event of reading) if (event.type === 'call-waiting') break;
    const heard: LoopEvent[] = [];
    const following = small.parts.loops.follow('alone', operator, new AbortController().signal, (event) => heard.push(event));
    approve(await open());
    expect(await following).toMatchObject({ state: 'ended', end: { reason: 'answered', rounds: 2 } });
    expect(steps(heard)).toEqual(['call-end w1', 'round-start', 'loop-end']);
    expect(await small.parts.loops.follow('alone', operator, new AbortController().signal)).toMatchObject({ state: 'ended' });
  });

  it('refuses an id that is there, and keeps nothing of a loop that called nothing', async () => {
    expect(() => small.parts.loops.run(requestOf('first', weather))).toThrow(/is a loop "first" already/);
    await readLoop(small.parts.loops.run(requestOf('plain', weather)));
    expect(() => small.parts.loops.get('plain', operator)).toThrow(/no loop "plain"/);
  });

  it('runs as many of a caller as it may, and no more; operators have a reserve', async () => {
    const { perCaller } = quotas['loop.running'];
    const caller: Caller = { id: 'key_many', role: 'caller' };
    const silent: Array<() => void> = [];
    model.always((_request, response) => void silent.push(() => sendParts(response, [say('late')])));
    const loops = Array.from({ length: perCaller }, (_, index) =>
      small.parts.loops.run(requestOf(`many-${index}`, {}, { caller })),
    );
    expect(() => small.parts.loops.run(requestOf('too-many', {}, { caller }))).toThrow(/At most 1000 loops/);
    const mine = small.parts.loops.run(requestOf('mine', {}));
    model.always((_request, response) => sendParts(response, [say('done')]));
    for (const loop of [...loops, mine]) expect((await readLoop(loop)).end.reason).toBe('answered');
    expect((await readLoop(small.parts.loops.run(requestOf('again', {}, { caller })))).end.reason).toBe('answered');
  });
});

describe('the loops of somebody else', () => {
  it('cannot be seen, followed, steered or cancelled, and look like none', async () => {
    const ann: Caller = { id: 'key_ann', role: 'caller' };
    const bob: Caller = { id: 'key_bob', role: 'caller' };
    model.say([ask('wiper', 'w1', { disk: 'I' })]);
    const { rest } = await readUntil(small.parts.loops.run(requestOf('anns', wiper, { caller: ann })), 'call-waiting');
    const { loops } = small.parts;
    const signal = new AbortController().signal;
    const unknown = (id: string) => new RegExp(`There is no loop "${id}" of yours`);
    for (const id of ['anns', 'nobodys']) {
      expect(() => loops.get(id, bob)).toThrow(unknown(id));
      expect(() => loops.cancel(id, bob)).toThrow(unknown(id));
      expect(() => loops.steer(id, bob, [user('Wipe all.')])).toThrow(unknown(id));
      await expect(loops.follow(id, bob, signal)).rejects.toThrow(unknown(id));
    }
    expect(loops.list(bob)).toEqual([]);
    expect(loops.list(ann).map(({ id }) => id)).toEqual(['anns']);
    expect(loops.cancel('anns', ann)).toBe(true);
    expect((await readLoop(rest)).end.reason).toBe('cancelled');
    expect(loops.list(operator).map(({ id }) => id)).toContain('anns');
    expect(() => loops.get('anns', bob)).toThrow(unknown('anns'));
  });
});
