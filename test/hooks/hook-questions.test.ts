import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { approvalContracts } from '../../src/operations/contracts/access/approvals.ts';
import { beforeHook, type HookHouse, openHookHouse } from './hook-house.ts';

const veto = beforeHook("return { veto: 'no' };", 'permissions: { kv: true }');
const operator: Caller = { id: 'local', role: 'admin' };

describe('createHookQuestions', () => {
  let house: HookHouse;
  let shared: HookHouse;
  beforeAll(async () => {
    shared = await openHookHouse();
  });
  afterEach(() => (house === shared ? shared.clear() : house.close()));
  afterAll(() => shared.close());

  async function useHouse(hooks: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<void> {
    house = shared;
    for (const [name, files] of Object.entries(hooks)) house.write(name, files);
    await house.parts.hooks.refresh();
  }

  const open = () => house.parts.approvals.list({ status: 'open', limit: 100 });

  async function answer(id: string, said: 'approve' | 'deny', caller = operator, more: object = {}): Promise<unknown> {
    const operation = house.daemon.operations.find(({ name }) => name === approvalContracts.answer.name);
    return operation?.handle({ id, answer: said, ...more }, { caller, signal: new AbortController().signal });
  }

  it('asks about every hook that could run, once, with what a person needs to judge', async () => {
    await useHouse({ guard: veto, broken: { 'HOOK.md': 'x' } });
    await house.parts.hooks.refresh();
    expect(open()).toMatchObject([
      {
        kind: 'hook',
        plugin: 'hook:guard',
        question: 'May the hook "guard" run with the files that it has now?',
        details: { events: 'tool:before', permissions: 'kv', files: 'HOOK.md, handler.ts', engine: 'quickjs' },
      },
    ]);
  });

  it('lets the hook run that was approved so, and asks nobody any more, also not after it was revoked', async () => {
    await useHouse({ guard: veto });
    const [question] = open();
    await answer(question?.id ?? '', 'approve');
    expect(house.parts.hooks.get('guard')).toMatchObject({ state: 'active', approval: { by: 'local' } });
    expect(await house.refusal({ text: 'x' })).toMatchObject({ code: 'hook-refused' });
    house.parts.hooks.revoke('guard', 'local');
    await house.parts.hooks.refresh();
    expect([open(), house.parts.hooks.get('guard').state]).toEqual([[], 'new']);
  });

  it('is answered by an approval by name, too', async () => {
    await useHouse({ named: veto });
    expect(open()).toHaveLength(1);
    await house.approve('named');
    expect(open()).toEqual([]);
    expect(house.parts.approvals.list({ status: 'approved', limit: 1 })).toMatchObject([
      { plugin: 'hook:named', answeredBy: 'local' },
    ]);
  });

  it('asks anew about other files, and takes the question about the old ones back', async () => {
    await useHouse({ edited: veto });
    const [before] = open();
    expect(before).toMatchObject({ plugin: 'hook:edited' });
    await house.approve('edited');
    house.write('edited', { 'more.txt': 'x' });
    await house.parts.hooks.refresh();
    const [after] = open();
    expect(after).toMatchObject({ question: expect.stringContaining('not those that were approved') });
    house.write('edited', { 'more.txt': 'y' });
    await expect(answer(after?.id ?? '', 'approve')).rejects.toMatchObject({ code: 'conflict' });
    expect(house.parts.hooks.get('edited').state).toBe('changed');
    expect([before?.id === after?.id, house.parts.approvals.get(after?.id ?? '')?.status]).toEqual([false, 'withdrawn']);
    house.remove('edited');
    await house.parts.hooks.refresh();
    expect(open()).toEqual([]);
  });

  it('stays denied over restarts, and the question that nobody answered stays the same', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-hooks-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    house = await openHookHouse({ a: veto, b: veto }, { dataDir });
    const [b, a] = open();
    await answer(a?.id ?? '', 'deny');
    await house.close();
    house = await openHookHouse({}, { dataDir });
    expect(open().map(({ id }) => id)).toEqual([b?.id]);
    expect(house.parts.hooks.list().map(({ state }) => state)).toEqual(['new', 'new']);
  });

  it('is nobody else’s business, and has no scope', async () => {
    await useHouse({ mine: veto });
    const { id = '' } = open()[0] ?? {};
    await expect(answer(id, 'approve', { id: 'ann', role: 'caller', mayAnswer: true })).rejects.toMatchObject({
      code: 'approval-unknown',
    });
    await expect(answer(id, 'approve', operator, { scope: 'once' })).rejects.toMatchObject({ code: 'body-invalid' });
    expect(house.parts.hooks.get('mine').state).toBe('new');
  });

  it('asks nothing while hooks are switched off', async () => {
    house = await openHookHouse({ guard: veto }, { settings: { hooks: { enabled: false } } });
    await house.parts.hooks.refresh();
    expect(open()).toEqual([]);
  });
});
