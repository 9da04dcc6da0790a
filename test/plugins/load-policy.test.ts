import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refuseLoading } from '../../src/plugins/discovery/load-policy.ts';
import { useSharedParts } from './rig/shared-parts.ts';
import { answering, makeDeep, makeFolder, startRig, until } from './rig/supervisor-rig.ts';

const shared = useSharedParts();

describe('refuseLoading', () => {
  it('goes by the file name, with or without ending, and lets the deny list win', () => {
    const policy = { safe: false, pluginAllowList: ['a', 'test_*'], pluginDenyList: ['test_2.ts'] };
    expect(refuseLoading('a.ts', policy)).toBeUndefined();
    expect(refuseLoading('a', policy)).toBeUndefined();
    expect(refuseLoading('test_1.mjs', policy)).toBeUndefined();
    expect(refuseLoading('test_2.ts', policy)).toContain('pluginDenyList');
    expect(refuseLoading('b.ts', policy)).toContain('pluginAllowList');
    expect(refuseLoading('b.ts', { safe: false })).toBeUndefined();
    expect(refuseLoading('a.ts', { ...policy, safe: true })).toContain('safe mode');
  });
});

describe('createSupervisor', () => {
  it('neither compiles nor evaluates what a list keeps out, at the start, later, or when it is enabled', async () => {
    const home = makeFolder();
    const plugins = makeDeep(home, 'plugins');
    writeFileSync(join(plugins, 'good.ts'), answering('good'));
    writeFileSync(join(plugins, 'bad.ts'), answering('bad', "name: 'good_too',"));
    const rig = await startRig(shared.get(), { home, deny: ['bad', 'later'] });
    expect(rig.supervisor.get('bad')).toMatchObject({ state: 'disabled', tools: [] });
    expect(rig.supervisor.why('bad').at(-1)?.reason).toBe('pluginDenyList names it');
    writeFileSync(join(plugins, 'later.ts'), answering('bad'));
    await until(
      () => rig.supervisor.list().some(({ name, state }) => name === 'later' && state === 'disabled'),
      'the later file',
    );
    expect(await rig.supervisor.setEnabled('bad', true)).toMatchObject({ state: 'disabled' });
    expect(await rig.supervisor.reload('bad')).toMatchObject({ ok: false, state: 'disabled' });
    expect(rig.builds).toEqual({ compiled: 1, loaded: 1 });
    expect(await rig.call('good')).toBe('good');
    await rig.stop();
    const free = await startRig(shared.get(), { home });
    expect(await free.call('good_too')).toBe('bad');
    await free.stop();
    const strict = await startRig(shared.get(), { home, allow: ['good'] });
    expect(strict.registry.list().map(({ name }) => name)).toEqual(['good']);
  });
});
