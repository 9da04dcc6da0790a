import { describe, expect, it } from 'vitest';
import type { PluginManifest } from '../../../src/plugins/generations/generation.ts';
import { readManifest } from '../../../src/plugins/manifest/read-manifest.ts';
import { listDaemonPermissions, writeSidecar } from '../../../src/plugins/manifest/write-sidecar.ts';

const handler = { $function: true };

function read(exported: unknown): PluginManifest {
  const result = readManifest({ exported: { default: exported, named: {} }, fileName: 'made.ts' });
  if (!result.ok) throw new Error(result.diagnostic.message);
  return result.manifest;
}

const manifest = read({
  name: 'made',
  version: '1.2.3',
  description: 'Made for a test.',
  permissions: { net: ['api.example.com'], read: ['.'], kv: { quotaBytes: 1000 }, env: ['KEY'], run: ['jq'] },
  limits: { wallMs: 2000 },
  isDangerous: true,
  tags: ['a', 'b'],
  tools: {
    first: { description: 'The first.', parameters: { type: 'object', required: ['x'] }, handler, idempotent: true, retries: 2 },
    second: {
      description: 'The second.',
      output: { type: 'string' },
      handler,
      mode: 'off',
      isDangerous: false,
      timeoutMs: 50,
      examples: [{ args: {}, expect: 'x' }],
    },
  },
});

describe('writeSidecar', () => {
  it('says all that the manifest says: read again it is the same', () => {
    const { tools, ...rest } = writeSidecar(manifest, (tool) => tool);
    const withHandlers = Object.fromEntries(
      Object.entries(Object(tools)).map(([name, tool]) => [name, { ...Object(tool), export: undefined, handler }]),
    );
    for (const tool of Object.values(withHandlers)) delete tool.export;
    const again = read({ ...rest, tools: withHandlers });
    const known = (each: PluginManifest) => ({
      ...each,
      permissionsSource: undefined,
      warnings: undefined,
      tools: each.tools.map((tool) => ({ ...tool, inputSource: undefined })),
    });
    expect(known(again)).toEqual(known(manifest));
  });

  it('names the export of each tool', () => {
    expect(writeSidecar(manifest, (tool) => `tool.${tool}`)).toMatchObject({
      tools: { first: { export: 'tool.first' }, second: { export: 'tool.second' } },
    });
  });
});

describe('listDaemonPermissions', () => {
  it('lists what only a daemon has', () => {
    expect(listDaemonPermissions(manifest)).toEqual(['read', 'run']);
    expect(listDaemonPermissions({ permissions: {} })).toEqual([]);
  });
});
