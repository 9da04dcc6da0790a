import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { beforeHook, type HookHouse, hookText, openHookHouse, tellingHook } from './hook-house.ts';

describe('createEventHooks', () => {
  let house: HookHouse;
  let isClosed = false;
  afterEach(async () => {
    if (!isClosed) await house.close();
    isClosed = false;
  });

  async function open(hooks: Parameters<typeof openHookHouse>[0], options: Parameters<typeof openHookHouse>[1] = {}) {
    house = await openHookHouse(hooks, options);
    for (const name of Object.keys(hooks ?? {})) await house.approve(name);
  }

  /** What a hook was told, once it was told `count` times. */
  async function told(name: string, count = 1): Promise<unknown[]> {
    const ended = () => house.runs(name).filter(({ endedAtMs }) => endedAtMs !== undefined);
    await house.until(() => (ended().length >= count ? true : undefined), `run ${count} of ${name}`);
    return ended().map((run) => run.arguments);
  }

  it('tells of a call that ended, with arguments and result, under the execution that it was', async () => {
    await open({ audit: tellingHook(['tool:after']) });
    const answer = await house.call('echo', { text: 'hello' }, { session: 's1' });
    expect(await told('audit')).toMatchObject([
      {
        event: 'tool:after',
        sessionKey: 's1',
        context: {
          executionId: answer.executionId,
          tool: 'echo',
          caller: 'local',
          session: 's1',
          status: 'success',
          arguments: { text: 'hello' },
          output: { text: 'hello' },
        },
      },
    ]);
    expect(house.runs('audit')).toMatchObject([{ status: 'success', parent: answer.executionId, session: 's1' }]);
  });

  it('tells of a call that failed', async () => {
    const bad = "export default { name: 'bad', description: 'b', handler: async () => { throw new Error('ouch'); } };";
    await open({ audit: tellingHook(['tool:after'], 'tools: [bad]') }, { plugins: { 'bad.ts': bad } });
    await house.call('bad');
    expect(await told('audit')).toMatchObject([
      { context: { status: 'error', error: { code: 'handler-threw', message: 'ouch' } } },
    ]);
  });

  it('never changes or delays the answer, whatever the hook does', async () => {
    await open({
      stuck: {
        'HOOK.md': hookText('events: ["tool:after"]\ntimeoutMs: 1000'),
        'handler.ts': 'export default async () => { await new Promise((resolve) => setTimeout(resolve, 600_000)); };',
      },
      late: {
        ...beforeHook("return { veto: 'too late', arguments: { text: 'other' } };"),
        'HOOK.md': hookText('events: [tool:after]'),
      },
      throws: { ...beforeHook("throw new Error('x');"), 'HOOK.md': hookText('events: [tool:after]') },
    });
    expect(await house.call('echo', { text: 'a' })).toMatchObject({ status: 'success', output: { text: 'a' } });
    expect(await house.call('echo', { text: 'b' })).toMatchObject({ status: 'success', output: { text: 'b' } });
    expect(await told('throws', 2)).toHaveLength(2);
    expect(house.runs('late').length).toBeGreaterThan(0);
  });

  it('tells each hook in the order in which things happened, and never of runs of hooks', async () => {
    await open({ 'a-audit': tellingHook(['tool:after']), 'b-audit': tellingHook(['tool:after', 'tool:before']) });
    for (const text of ['1', '2', '3']) await house.call('echo', { text });
    const texts = (all: unknown[]) =>
      all.map((each) => (each as { event: string; context: { arguments: { text: string } } }).context.arguments.text);
    expect(texts(await told('a-audit', 3))).toEqual(['1', '2', '3']);
    await told('b-audit', 6);
    await house.call('echo', { text: '4' });
    await told('a-audit', 4);
    await told('b-audit', 8);
    expect([house.runs('a-audit').length, house.runs('b-audit').length]).toEqual([4, 8]);
  });

  it('leaves out what a hook is too slow for, and says so once', async () => {
    await open({
      stuck: {
        'HOOK.md': hookText('events: ["tool:after"]\ntimeoutMs: 60000'),
        'handler.ts': 'export default async () => { await new Promise((resolve) => setTimeout(resolve, 600_000)); };',
      },
    });
    await Promise.all(Array.from({ length: 1010 }, (_, count) => house.call('echo', { text: String(count) })));
    const problem = await house.event('hook-problem');
    expect(problem).toMatchObject({ subject: 'stuck', data: { message: expect.stringContaining('too slow') } });
    expect(house.events.filter(({ type }) => type === 'hook-problem')).toHaveLength(1);
    house.parts.hooks.revoke('stuck', 'local');
  });

  it('tells of the start and the end of the daemon, and waits for who is told of the end', async () => {
    await open({ life: tellingHook(['gateway:startup', 'daemon:stop'], 'permissions: { kv: true }') });
    const { dataDir } = house;
    house.write('life', {
      'handler.ts': `export default async (event: any, context: any) => {
        const seen = (await context.kv.get('seen')) ?? [];
        await context.kv.set('seen', [...seen, event.type + ':' + event.action + ' ' + (event.timestamp instanceof Date)]);
      };`,
    });
    await house.approve('life');
    await house.daemon.close('done');
    house = await openHookHouse({}, { dataDir });
    const seen = () => house.parts.store.kv.get('hook:life', 'hook:life', 'seen');
    await told('life', 2);
    expect(JSON.stringify(seen() ?? house.runs('life').map((run) => run.arguments))).toContain('daemon:stop');
    expect(house.runs('life').map(({ status }) => status)).toEqual(['success', 'success']);
  });

  it('tells of a reload and what it came to, without a path of this machine', async () => {
    await open({ reloads: tellingHook(['plugin:reload']) });
    writeFileSync(join(house.folder, 'plugins', 'echo.ts'), 'export default {');
    await house.event('plugin-diagnostic');
    const all = await told('reloads');
    expect(all.at(-1)).toMatchObject({ context: { plugin: 'echo', state: 'degraded' } });
    expect(JSON.stringify(all)).not.toContain(house.folder);
  });

  it('runs handlers of the Deno engine, with messages in the log', async () => {
    await open({
      deno: {
        'HOOK.md': hookText('engine: deno\nmetadata: { openclaw: { events: ["tool:result"] } }'),
        'handler.ts': `import { createHash } from 'node:crypto';
          const handler = async (event: any) => {
            if (event.type !== 'tool' || event.action !== 'result') return;
            event.messages.push(createHash('sha256').update('x').digest('hex').slice(0, 8));
          };
          export default handler;`,
      },
    });
    expect(house.parts.hooks.get('deno')).toMatchObject({ state: 'active', manifest: { engine: 'deno' } });
    await house.call('echo', { text: 'x' });
    await told('deno');
    const [run] = house.runs('deno');
    expect([run?.status, run?.error]).toEqual(['success', undefined]);
    const lines = await house.until(
      () => run && house.events.find(({ type, subject }) => type === 'execution-log' && subject === run.id),
      'its log',
    );
    expect(lines.data).toMatchObject({ text: '2d711642' });
  });
});
