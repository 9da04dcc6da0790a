import { makeToolEntry, type ToolEntry } from '../../src/tools/tool-types.ts';
import type { ToolManifest } from '../../src/units/tool-manifest.ts';

const noFlags = {
  isResearch: false,
  isSideEffect: false,
  isDeep: false,
  isDangerous: false,
  isElevated: false,
  isParallelSafe: false,
};

/** An entry of a tool that nobody runs, as the registry has it. */
export function makeEntry(said: Partial<ToolManifest> & { readonly name: string }): ToolEntry {
  const manifest: ToolManifest = {
    handler: 'default',
    description: '',
    input: { type: 'object' },
    inputSource: 'parameters',
    flags: noFlags,
    tags: [],
    mode: 'auto',
    retries: 0,
    idempotent: false,
    examples: [],
    ...said,
  };
  return makeToolEntry(manifest, {
    unit: {
      kind: 'plugin',
      path: `/plugins/${said.name}.ts`,
      id: `id of ${said.name}`,
      contentHash: 'x',
      author: 'operator',
      manifest: {
        name: said.name,
        version: '1.0.0',
        description: '',
        isolation: 'call',
        limits: {},
        permissions: {},
        tools: [manifest],
      },
      runner: { by: 'daemon', run: () => Promise.reject(new Error('nobody runs it')) },
    },
    granted: () => ({}),
    lease: () => () => {},
  });
}
