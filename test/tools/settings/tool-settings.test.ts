import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { approvalContracts } from '../../../src/operations/contracts/access/approvals.ts';
import { toolContracts } from '../../../src/operations/contracts/tools.ts';
import { openIdentityHouse, operator } from '../../promises/identity-house.ts';

const model: Caller = { id: 'key_model', role: 'caller' };
const tool = (fields = '') => `export default { ${fields} description: 'Says hello.', handler: () => 'hello' };`;

async function openHouse(files: Readonly<Record<string, string>>) {
  const house = openIdentityHouse(files);
  await house.start();
  return house;
}

async function untilAsked(house: Awaited<ReturnType<typeof openHouse>>) {
  for (;;) {
    const open = house.parts().approvals.list({ status: 'open', limit: 10 });
    const ofCalls = open.filter(({ kind }) => kind === 'call');
    if (ofCalls.length > 0) return ofCalls;
    await new Promise<void>((resolve) => {
      const end = house.parts().events.subscribe({ types: ['approval-request'] }, () => {
        end();
        resolve();
      });
    });
  }
}

describe('tools.update', () => {
  it('turns a tool off for the next call, tells it, and turns it on as it was declared', async () => {
    const house = await openHouse({ 'plugins/hello.ts': tool(`mode: 'auto',`) });
    const set = await house.invoke(toolContracts.update, { ref: 'hello', mode: 'off', who: 'person' });
    expect(set).toMatchObject({ mode: 'off', who: 'person', setting: { mode: 'off', who: 'person', by: 'local' } });
    await expect(house.call('hello')).rejects.toMatchObject({ code: 'tool-off' });
    const back = await house.invoke(toolContracts.update, { ref: 'hello', mode: null });
    expect(back).toMatchObject({ mode: 'auto', who: 'person', setting: { who: 'person' } });
    await expect(house.call('hello', {}, model)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await house.invoke(toolContracts.update, { ref: 'hello', who: null })).not.toHaveProperty('setting');
    expect((await house.call('hello', {}, model)).output).toBe('hello');
    const told = house.events.filter(({ type }) => type === 'setting-change').map(({ subject, data }) => [subject, data]);
    expect(told[0]).toEqual(['hello@0.0.0', { setting: 'mode off, who person', by: 'local' }]);
    const isListNews = ({ type, data }: (typeof house.events)[number]) =>
      type === 'tools-change' && 'changed' in data && data.changed.length > 0;
    // News of lists are put together before they are told.
    await expect.poll(() => house.events.some(isListNews)).toBe(true);
    const rows = house.parts().store.audit.list({ limit: 50 });
    expect(rows.map(({ permission, detail }) => [permission, detail])).toContainEqual([
      'setting',
      'hello@0.0.0: mode off, who person',
    ]);
  });

  it('holds over restarts and new generations, and hides who set it from callers', async () => {
    const house = await openHouse({ 'plugins/hello.ts': tool() });
    await house.invoke(toolContracts.update, { ref: 'hello', mode: 'off' });
    await house.restart();
    await expect(house.call('hello')).rejects.toMatchObject({ code: 'tool-off' });
    house.write('plugins/hello.ts', tool(`version: '2.0.0', mode: 'on',`));
    await house.settled('plugins/hello.ts', ({ version }) => version === '2.0.0');
    await expect(house.call('hello')).rejects.toMatchObject({ code: 'tool-off' });
    const { items } = await house.invoke(toolContracts.list, { mode: 'off' }, model);
    expect(items.map(({ ref, setting }) => [ref, setting?.mode, setting?.by])).toEqual([['hello@2.0.0', 'off', undefined]]);
  });

  it('belongs to the file: another plugin that takes the name has nothing of it', async () => {
    const house = await openHouse({ 'plugins/a.ts': tool(`name: 'pay', version: '1.0.0',`) });
    await house.invoke(toolContracts.update, { ref: 'pay', who: 'model', mode: 'off' });
    await house.stop();
    rmSync(house.path('plugins/a.ts'));
    house.write('plugins/b.ts', tool(`name: 'pay', version: '1.0.0', who: 'person',`));
    await house.start();
    expect(await house.invoke(toolContracts.get, { ref: 'pay' })).toMatchObject({ mode: 'on', who: 'person' });
  });

  it('is for admins, and knows only what it can be set to', async () => {
    const house = await openHouse({ 'plugins/hello.ts': tool(`who: 'person',`) });
    await expect(house.invoke(toolContracts.update, { ref: 'hello', who: 'model' }, model)).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(house.invoke(toolContracts.update, JSON.parse('{"ref":"hello","mode":"maybe"}'))).rejects.toMatchObject({
      code: 'body-invalid',
    });
    await expect(house.invoke(toolContracts.update, { ref: 'nothing', mode: 'off' })).rejects.toMatchObject({
      code: 'tool-unknown',
    });
    expect(await house.invoke(toolContracts.get, { ref: 'hello' }, operator)).toMatchObject({ who: 'person' });
  });

  it('asks a person before a call when it is set so, also after a restart in the meantime', async () => {
    const house = await openHouse({ 'plugins/hello.ts': tool() });
    await house.invoke(toolContracts.update, { ref: 'hello', who: 'both' });
    const before = house.call('hello', {}, model);
    before.catch(() => {});
    const [question] = await untilAsked(house);
    if (question === undefined) throw new Error('nobody was asked');
    await house.restart();
    const open = house.parts().approvals.list({ status: 'open', limit: 10 });
    expect(open.flatMap(({ id, kind }) => (kind === 'call' ? [id] : []))).toEqual([question.id]);
    expect(house.parts().executions.get(question.executionId ?? '', operator).status).toBe('pending');
    await house.invoke(toolContracts.update, { ref: 'hello', mode: 'off' });
    await house.invoke(approvalContracts.answer, { id: question.id, answer: 'approve' });
    const ended = new AbortController();
    await house.parts().caller.ended(question.executionId ?? '', 60_000, ended.signal);
    expect(house.parts().executions.get(question.executionId ?? '', operator).error?.code).toBe('tool-off');
  });
});

describe('tools.switch', () => {
  it('turns all tools off, over restarts, until it is taken back', async () => {
    const house = await openHouse({ 'plugins/hello.ts': tool() });
    expect(await house.invoke(toolContracts.switch, { enabled: false })).toEqual({ enabled: false, custom: true });
    await expect(house.call('hello')).rejects.toMatchObject({ code: 'tools-disabled' });
    await house.restart();
    await expect(house.call('hello')).rejects.toMatchObject({ code: 'tools-disabled' });
    await expect(house.invoke(toolContracts.switch, { enabled: true }, model)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await house.invoke(toolContracts.switch, { enabled: true })).toEqual({ enabled: true, custom: true });
    expect((await house.call('hello')).output).toBe('hello');
  });

  it('lets only built-in tools run without custom, for all or for one call', async () => {
    const house = await openHouse({ 'plugins/hello.ts': tool() });
    const once = house.invoke(toolContracts.call, { ref: 'hello', builtinsOnly: true });
    await expect(once).rejects.toMatchObject({ code: 'tools-disabled' });
    await house.invoke(toolContracts.switch, { custom: false });
    await expect(house.call('hello')).rejects.toMatchObject({ code: 'tools-disabled' });
    expect(await house.invoke(toolContracts.switch, {})).toEqual({ enabled: true, custom: false });
  });

  it('does not turn on what the config turned off', async () => {
    const house = openIdentityHouse({ 'plugins/hello.ts': tool() }, { tools: { enabled: false } });
    await house.start();
    await expect(house.invoke(toolContracts.switch, { enabled: true })).rejects.toMatchObject({ code: 'conflict' });
    await expect(house.call('hello')).rejects.toMatchObject({ code: 'tools-disabled' });
  });
});
