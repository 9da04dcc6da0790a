import type { Generation } from '../../../src/plugins/generations/generation.ts';

/** A generation of `/plugins/a.ts` as data: nothing of it can run. */
export function makeGeneration(number: number): Generation {
  return {
    id: `gen_${number}`,
    path: '/plugins/a.ts',
    number,
    author: 'operator',
    contentHash: `content ${number}`,
    createdAtMs: number,
    isStale: false,
    inputs: [],
    manifest: {
      name: 'a',
      version: '1.0.0',
      description: '',
      engine: 'quickjs',
      isolation: 'call',
      limits: {},
      permissions: {},
      permissionsSource: 'declared',
      tools: [],
      hooks: { onStart: false, onReload: false, healthcheck: false },
      warnings: [],
    },
    kind: 'plugin',
    runner: {
      by: 'engine',
      engine: 'quickjs',
      program: { key: 'k', label: 'a', readCode: async () => '', readImage: async () => undefined, saveImage: () => undefined },
      handsOver: false,
    },
  };
}
