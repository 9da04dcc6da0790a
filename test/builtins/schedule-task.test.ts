import { afterAll, describe, expect, it } from 'vitest';
import type { Settings } from '../../src/config/schema.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const plugins = {
  'greet.ts': `export default { handler: (args: { name: string }) => 'Hello ' + args.name }`,
  'secret.ts': `export default { handler: () => 'secret' }`,
  'asks.ts': `export default { permissions: { tools: ['schedule_task'] }, handler: (_args: {}, context) =>
    context.tools.call('schedule_task', { tool: 'secret', inSeconds: 1 }) }`,
};
const settings: Settings = { builtins: { tools: ['schedule_task'] } };
const house = await startSmallDaemon(plugins, settings);
let { daemon, parts, events } = house;
afterAll(() => house.close());

const until = async (find: () => boolean): Promise<void> => {
  while (!find()) await new Promise<void>((resolve) => void parts.events.subscribe({}, () => resolve()));
};

describe('schedule_task', () => {
  it('has a tool called later, as an execution of whoever asked', async () => {
    const { row } = parts.keys.create({ name: 'ann', role: 'caller' });
    const ann = parts.keys.current(row.id);
    if (ann === undefined) throw new Error('it was made');
    const { output, error } = await house.call(
      'schedule_task',
      { tool: 'greet', arguments: { name: 'Ann' }, inSeconds: 1 },
      { caller: ann, session: 'talk' },
    );
    expect(error).toBeUndefined();
    expect(output).toMatchObject({ id: expect.stringMatching(/^sch_/), nextAt: expect.stringMatching(/^2\d{3}-.*Z$/) });
    await until(() => events.some(({ type, data }) => type === 'execution-end' && 'tool' in data && data.tool === 'greet'));
    const { items } = parts.executions.list({ tool: 'greet' }, ann);
    expect(items).toMatchObject([{ caller: row.id, session: 'talk', status: 'success', output: 'Hello Ann' }]);
    expect(parts.schedules.list(ann)).toEqual([]);
  });

  it('has it called with the rights of then', async () => {
    const { row } = parts.keys.create({ name: 'eve', role: 'caller' });
    const eve = parts.keys.current(row.id);
    if (eve === undefined) throw new Error('it was made');
    await house.call('schedule_task', { tool: 'secret', inSeconds: 1 }, { caller: eve });
    parts.keys.update(row.id, { tools: ['greet'] });
    await until(() => events.some(({ type }) => type === 'schedule-problem'));
    expect(events.find(({ type }) => type === 'schedule-problem')).toMatchObject({
      caller: row.id,
      data: { code: 'tool-unknown' },
    });
    expect(parts.executions.list({ tool: 'secret' }, eve).items).toEqual([]);
  });

  it.each([
    ['was revoked', (id: string) => void parts.keys.revoke(id)],
    ['has ended', (id: string) => void parts.keys.update(id, { expiresAtMs: Date.now() + 500 })],
  ])('has nothing called for a key that %s', async (how, end) => {
    const { row } = parts.keys.create({ name: how, role: 'caller' });
    const caller = parts.keys.current(row.id);
    if (caller === undefined) throw new Error('it was made');
    await house.call('schedule_task', { tool: 'secret', inSeconds: 1 }, { caller });
    end(row.id);
    // One of the operator, made later, is called: the time of the other one is over.
    await house.call('schedule_task', { tool: 'greet', arguments: { name: how }, inSeconds: 2 });
    const boss = { id: 'local', role: 'admin' } as const;
    await until(() => parts.executions.list({ tool: 'greet' }, boss).items.some(({ output }) => output === `Hello ${how}`));
    expect(parts.executions.list({ tool: 'secret' }, boss).items).toEqual([]);
  });

  it('is for models: what they may not know of is not scheduled, nor anything by a plugin', async () => {
    const { row } = parts.keys.create({ name: 'bob', role: 'caller', rules: { tools: ['greet', 'schedule_task'] } });
    const bob = parts.keys.current(row.id);
    if (bob === undefined) throw new Error('it was made');
    const { error } = await house.call('schedule_task', { tool: 'secret', inSeconds: 1 }, { caller: bob });
    expect(error).toMatchObject({ code: 'tool-unknown' });
    expect(error?.message).not.toContain('did you mean');
    expect((await house.call('asks')).error?.code).toBe('not-supported');
    expect(parts.schedules.list(bob)).toEqual([]);
  });

  it.each([{}, { at: 'tomorrow' }, { inSeconds: 5, cron: '* * * * *' }, { at: '2020-01-01T00:00:00Z' }, { cron: '61 * * * *' }])(
    'refuses %j',
    async (when) => {
      expect((await house.call('schedule_task', { tool: 'greet', ...when })).error?.code).toBe('arguments-invalid');
    },
  );

  it('keeps it over a restart, and makes a call then that was missed', async () => {
    const answer = await house.call('schedule_task', { tool: 'greet', arguments: { name: 'again' }, cron: '0 8 * * *' });
    const { id } = answer.output as { id: string };
    const [kept] = parts.schedules.list({ id: 'local', role: 'admin' });
    if (kept === undefined) throw new Error('it is kept');
    await daemon.close('the test starts it anew');
    const dark = await startSmallDaemon({}, {}, { folder: house.folder });
    expect(dark.parts.schedules.list({ id: 'local', role: 'admin' })).toMatchObject([{ id }]);
    dark.parts.store.schedules.put({ ...kept, nextAtMs: Date.now() - 3_600_000 });
    await dark.daemon.close('the test starts it anew');
    const next = await startSmallDaemon({}, settings, { folder: house.folder });
    ({ daemon, parts, events } = next);
    await until(() => events.some(({ type, data }) => type === 'execution-end' && 'tool' in data && data.tool === 'greet'));
    expect(parts.executions.list({ tool: 'greet' }, { id: 'local', role: 'admin' }).items[0]).toMatchObject({
      output: 'Hello again',
    });
    expect(parts.schedules.list({ id: 'local', role: 'admin' })[0]?.nextAtMs).toBeGreaterThan(Date.now());
    await next.daemon.close('the test is over');
  });
});
