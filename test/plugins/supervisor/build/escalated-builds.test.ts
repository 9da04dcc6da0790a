import { describe, expect, it } from 'vitest';
import type { PluginSource } from '../../../../src/plugins/discovery/plugin-source.ts';
import type { Generation } from '../../../../src/plugins/generations/generation.ts';
import { createEscalatedBuilds } from '../../../../src/plugins/supervisor/build/escalated-builds.ts';
import { makeManifest } from '../../../tools/calling-house.ts';

const source: PluginSource = {
  kind: 'file',
  name: 'a.ts',
  path: '/plugins/a.ts',
  entry: '/plugins/a.ts',
  realEntry: '/plugins/a.ts',
  pluginDir: '/plugins',
  device: 1,
  root: { path: '/plugins', label: 'plugins', kind: 'plugins' },
};

const generation = (id: string, contentHash = 'content'): Generation => ({
  id,
  path: '/plugins/a.ts',
  number: 1,
  author: 'operator',
  contentHash,
  createdAtMs: 0,
  isStale: false,
  manifest: makeManifest('a'),
  inputs: [],
  kind: 'plugin',
  runner: {
    by: 'engine',
    engine: 'quickjs',
    program: { key: id, label: 'a', readCode: async () => '', readImage: async () => undefined, saveImage: () => {} },
    handsOver: false,
  },
});

function openBuilds(contentHash = 'content') {
  const compiled: string[] = [];
  const discarded: (string | undefined)[] = [];
  const builds = createEscalatedBuilds({
    builder: {
      async compileOnly(_source, { engine }) {
        compiled.push(engine);
        return { contentHash, artifacts: { code: `code for ${engine}`, sourceMap: '{}', sources: [] } };
      },
    },
    engines: { deno: { discard: ({ programKey }) => void discarded.push(programKey) } },
    findSource: (path) => (path === source.path ? source : undefined),
  });
  return { builds, compiled, discarded };
}

describe('createEscalatedBuilds', () => {
  it('makes the code of a generation once, however many ask for it at once', async () => {
    const { builds, compiled } = openBuilds();
    const [one, other] = await Promise.all([builds.build(generation('g1'), 'deno'), builds.build(generation('g1'), 'deno')]);
    expect(compiled).toEqual(['deno']);
    expect(one).toBe(other);
    expect(await one?.runner.program.readCode()).toBe('code for deno');
    expect([one?.manifest.engine, one?.contentHash]).toEqual(['deno', 'content']);
    expect(builds.readTrace(one?.id ?? '')).toMatchObject({ sourceMap: '{}' });
  });

  it('makes none from other content, or of a plugin that is gone', async () => {
    const { builds } = openBuilds('another');
    expect(await builds.build(generation('g1'), 'deno')).toBeUndefined();
    const gone = { ...generation('g2', 'another'), path: '/plugins/gone.ts' };
    expect(await builds.build(gone, 'deno')).toBeUndefined();
  });

  it('forgets what it made together with its generation, and the oldest beyond its bound', async () => {
    const { builds, compiled, discarded } = openBuilds();
    const made = await builds.build(generation('g1'), 'deno');
    builds.forget(generation('g1'));
    expect(discarded).toEqual([made?.runner.program.key]);
    expect(builds.readTrace(made?.id ?? '')).toBeUndefined();
    for (let number = 0; number < 40; number++) await builds.build(generation(`h${number}`), 'deno');
    expect(discarded).toHaveLength(1 + 8);
    await builds.build(generation('h39'), 'deno');
    expect(compiled).toHaveLength(1 + 40);
  });
});
