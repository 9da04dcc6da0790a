import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { describeExports } from '../../../src/guests/cell/describe.ts';
import { createCompiler } from '../../../src/plugins/compile/compile.ts';
import type { PluginManifest } from '../../../src/plugins/generations/generation.ts';
import { readManifest } from '../../../src/plugins/manifest/read-manifest.ts';
import { readSchemas } from '../../../src/plugins/schema/read-schemas.ts';

const root = join(import.meta.dirname, '../../fixtures/orcbot');
const compiler = createCompiler({ sharedDirs: [], builtins: new Map(), refusedBuiltins: new Map() });
afterAll(() => compiler.close());

/** From the file to its manifest, as a reload does it. */
async function load(file: string): Promise<PluginManifest> {
  const compiled = await compiler.compile({ entry: join(root, file), rootDir: root, pluginDir: root, isFolder: true });
  if (!compiled.ok) throw new Error(compiled.diagnostic.message);
  const global: Record<string, unknown> = {};
  global.globalThis = global;
  runInNewContext(compiled.code, global);
  const result = readManifest({
    exported: JSON.parse(describeExports(global.__hotcellExports)),
    fileName: file,
    inferred: readSchemas(compiled.sources, file),
  });
  if (!result.ok) throw new Error(result.diagnostic.message);
  return result.manifest;
}

describe('plugins in the format of OrcBot', () => {
  it('are read from TypeScript with any', async () => {
    const manifest = await load('weather-api.ts');
    expect(manifest).toMatchObject({
      name: 'weather_api',
      version: '0.0.0',
      permissions: { net: ['api.openweathermap.org'], env: ['openWeatherApiKey'] },
      permissionsSource: 'inferred',
      tools: [{ inputSource: 'usage', input: { required: ['city'] }, flags: { isDeep: true, isParallelSafe: false } }],
    });
  });

  it('are read from CommonJS', async () => {
    expect(await load('crypto-price.js')).toMatchObject({
      name: 'crypto_price',
      sourceUrl: 'https://gist.example.org/crypto-price.js',
      permissions: { net: ['api.coingecko.com'] },
      tools: [
        {
          input: { properties: { symbol: { type: 'string' }, days: { type: 'number' } }, required: ['symbol'] },
          flags: { isResearch: true },
        },
      ],
    });
  });

  it('are read from an export named like the file', async () => {
    expect(await load('task_pusher.cjs')).toMatchObject({
      name: 'task_pusher',
      tools: [
        { input: { properties: { task: {}, priority: { type: 'number' } }, required: ['task'] }, flags: { isSideEffect: true } },
      ],
    });
  });

  it('are read from named exports', async () => {
    expect(await load('named-exports.ts')).toMatchObject({
      name: 'text_upper',
      tools: [
        {
          inputSource: 'type',
          input: { properties: { text: { type: 'string', description: 'The text' } } },
          flags: { isParallelSafe: true },
        },
      ],
    });
    expect(readFileSync(join(root, 'named-exports.ts'), 'utf8')).not.toContain('default');
  });
});
