import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { beforeHook, type HookHouse, openHookHouse } from './hook-house.ts';

const veto = beforeHook("return { veto: 'no' };");

describe('createHookRegistry', () => {
  let house: HookHouse;
  let shared: HookHouse;
  beforeAll(async () => {
    shared = await openHookHouse();
  });
  afterEach(() => (house === shared ? shared.clear() : house.close()));
  afterAll(() => shared.close());

  /** The house that tests have one after the other, with hooks that the daemon has seen. */
  async function useHouse(hooks: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<void> {
    house = shared;
    for (const [name, files] of Object.entries(hooks)) house.write(name, files);
    await house.parts.hooks.refresh();
  }

  async function isAsked(): Promise<boolean> {
    const answer = await house.call('echo', { text: 'x' }).catch((error: unknown) => error);
    return answer instanceof HotcellError && answer.code === 'hook-refused';
  }

  /** A changed hook lets no call pass that it watched over, and does not run either. */
  async function expectBlocked(): Promise<void> {
    const runs = house.runs('guard').length;
    expect(await house.refusal({ text: 'x' })).toMatchObject({
      code: 'hook-failed',
      message: expect.stringContaining('changed since it was approved'),
      fix: expect.stringContaining('hotcell hook approve guard'),
    });
    expect(house.runs('guard')).toHaveLength(runs);
  }

  it('runs nothing that was only put there', async () => {
    await useHouse({ guard: veto });
    expect(house.parts.hooks.get('guard')).toMatchObject({ state: 'new', origin: 'data' });
    expect(await isAsked()).toBe(false);
    expect(house.runs('guard')).toEqual([]);
  });

  it('runs what was approved, over restarts too, until it is revoked', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-hooks-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    house = await openHookHouse({ guard: veto }, { dataDir });
    expect(await house.approve('guard')).toMatchObject({ state: 'active', approval: { by: 'local' } });
    expect(await isAsked()).toBe(true);
    await house.close();
    house = await openHookHouse({}, { dataDir });
    expect(await isAsked()).toBe(true);
    expect([house.parts.hooks.revoke('guard', 'ann'), house.parts.hooks.revoke('guard', 'ann')]).toEqual([true, false]);
    expect(await isAsked()).toBe(false);
    const { data } = await house.event('hook-change', ({ data }) => data.reason === 'revoked');
    expect(data).toMatchObject({ state: 'new', previousState: 'active', by: 'ann' });
  });

  it.each([
    ['the handler', { 'handler.ts': 'export default () => ({ veto: "something else" });' }],
    ['HOOK.md', { 'HOOK.md': `${veto['HOOK.md']}\n` }],
    ['a file beside them', { 'lib/words.ts': 'export const words = [];' }],
  ])('blocks the very next call when %s changed, and runs again once approved or put back', async (_what, change) => {
    await useHouse({ guard: veto });
    await house.approve('guard');
    house.write('guard', change);
    await expectBlocked();
    expect(house.parts.hooks.get('guard')).toMatchObject({ state: 'changed' });
    await house.event('hook-change', ({ data }) => data.state === 'changed' && data.previousState === 'active');
    if ('lib/words.ts' in change) house.remove('guard/lib');
    else house.write('guard', veto);
    await house.parts.hooks.refresh();
    expect(await isAsked()).toBe(true);
    house.write('guard', change);
    await house.approve('guard');
    expect(await isAsked()).toBe(true);
  });

  it('does not run what was edited while the daemon was not there', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-hooks-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    house = await openHookHouse({ guard: veto }, { dataDir });
    await house.approve('guard');
    await house.close();
    house = await openHookHouse({ guard: beforeHook("return { veto: 'worse' };") }, { dataDir });
    expect(house.parts.hooks.get('guard').state).toBe('changed');
    await expectBlocked();
    house.parts.hooks.revoke('guard', 'local');
    expect(await isAsked()).toBe(false);
    expect((await house.call('echo', { text: 'x' })).status).toBe('success');
  });

  it('blocks what the approved files watched over, whatever the changed ones say of themselves', async () => {
    await useHouse({ guard: beforeHook("return { veto: 'no' };", 'tools: ["ec*"]') });
    await house.approve('guard');
    house.write('guard', { 'HOOK.md': '---\nevents: ["daemon:start"]\n---\nHarmless.\n' });
    await expectBlocked();
    house.write('guard', { 'HOOK.md': 'no front matter' });
    await expectBlocked();
  });

  it.each(['.handler.ts.swp', 'handler.ts~', '4913', '.DS_Store'])(
    'does not take %s of an editor for a file of the hook',
    async (name) => {
      await useHouse({ guard: veto });
      await house.approve('guard');
      house.write('guard', { [name]: 'half a word' });
      expect(await isAsked()).toBe(true);
      expect(house.parts.hooks.get('guard')).toMatchObject({ state: 'active' });
    },
  );

  it('takes what was granted from a run under way when it is revoked', async () => {
    const forever = "for (;;) { await context.kv.set('n', 1); await new Promise((resolve) => setTimeout(resolve, 10)); }";
    await useHouse({ busy: beforeHook(forever, 'permissions: { kv: true }\ntimeoutMs: 30000') });
    await house.approve('busy');
    const refused = house.refusal({ text: 'x' });
    await house.event('permission-use', ({ data }) => data.tool === 'hook:busy' && data.allowed);
    house.parts.hooks.revoke('busy', 'local');
    expect(await refused).toMatchObject({ code: 'hook-failed' });
    expect(house.runs('busy')[0]?.error).toMatchObject({ code: 'permission-denied' });
  });

  it('notices an edit by itself, and an edit that changes no content is none', async () => {
    await useHouse({ guard: veto });
    await house.approve('guard');
    house.write('guard', veto);
    expect(await isAsked()).toBe(true);
    house.write('guard', { 'notes.txt': 'new' });
    await house.event('hook-change', ({ data }) => data.state === 'changed');
    house.write('later', veto);
    await house.event('hook-change', ({ subject, data }) => subject === 'later' && data.state === 'new');
  });

  it('approves only the files that somebody saw', async () => {
    await useHouse({ guard: veto });
    await house.parts.hooks.refresh();
    const { contentHash } = house.parts.hooks.get('guard');
    house.write('guard', beforeHook("return { veto: 'worse' };"));
    await expect(house.parts.hooks.approve('guard', contentHash, 'local')).rejects.toMatchObject({ code: 'conflict' });
    await expect(house.parts.hooks.approve('gaurd', contentHash, 'local')).rejects.toMatchObject({
      code: 'hook-unknown',
      message: expect.stringContaining('Did you mean "guard"?'),
    });
    expect(await isAsked()).toBe(false);
  });

  it('forgets an approval with the folder: the same files that come back are new', async () => {
    await useHouse({ guard: veto });
    await house.approve('guard');
    house.remove('guard');
    await house.parts.hooks.refresh();
    expect([house.parts.hooks.list(), house.parts.store.hookApprovals.list()]).toEqual([[], []]);
    house.write('guard', veto);
    await house.parts.hooks.refresh();
    expect(house.parts.hooks.get('guard').state).toBe('new');
    expect(await isAsked()).toBe(false);
  });

  it('does not carry an approval to a copy or another name', async () => {
    await useHouse({ guard: veto });
    await house.approve('guard');
    house.write('copy', veto);
    await house.parts.hooks.refresh();
    expect(house.parts.hooks.list().map(({ name, state }) => [name, state])).toEqual([
      ['copy', 'new'],
      ['guard', 'active'],
    ]);
  });

  it.each([
    ['safe mode', { safeMode: 'all' as const }],
    ['hooks.enabled', { hooks: { enabled: false } }],
  ])('runs none when %s says so, and still lists and approves', async (_what, settings) => {
    house = await openHookHouse({ guard: veto }, { settings });
    expect(house.parts.hooks.isOn).toBe(false);
    expect(await house.approve('guard')).toMatchObject({ approval: { by: 'local' } });
    expect(house.parts.hooks.isHeard('tool:before')).toBe(false);
    expect(house.parts.hooks.findHearing('tool:before')).toEqual([]);
  });

  it('follows hooks.enabled while the daemon runs', async () => {
    house = await openHookHouse({ guard: veto });
    await house.approve('guard');
    const { hooks } = house.parts;
    const set = async (enabled: boolean) => {
      const count = house.events.filter(({ type }) => type === 'config-change').length;
      writeFileSync(join(house.folder, 'hotcell.config.yaml'), stringify({ grantRequested: true, port: 0, hooks: { enabled } }));
      await house.until(() => house.events.filter(({ type }) => type === 'config-change')[count], 'the change of the config');
    };
    expect(hooks.isHeard('tool:before')).toBe(true);
    await set(false);
    expect([hooks.isOn, hooks.isHeard('tool:before'), hooks.findHearing('tool:before')]).toEqual([false, false, []]);
    expect((await house.call('echo', { text: 'a' })).status).toBe('success');
    await set(true);
    expect([hooks.isOn, hooks.isHeard('tool:before')]).toEqual([true, true]);
    expect(hooks.list()[0]?.state).toBe('active');
  });
});
