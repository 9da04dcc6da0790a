import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pluginKeys } from '../../src/plugins/manifest/read-manifest.ts';
import { toolKeys } from '../../src/plugins/manifest/read-tool.ts';
import { startExampleDaemon } from '../example-daemon.ts';

const page = readFileSync(new URL('../../docs/plugin-format.md', import.meta.url), 'utf8');
const codeBlocks = [...page.matchAll(/```(?:ts|js)\n\/\/ plugins\/(\S+)\n([\s\S]*?)```/g)];
const jsonBlocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']): unknown => JSON.parse(text));
const calls = jsonBlocks.filter((block): block is ShownCall => isShownCall(block));
const folder = mkdtempSync(join(tmpdir(), 'hotcell-format-'));
let daemon: Awaited<ReturnType<typeof startExampleDaemon>>;

interface ShownCall {
  readonly tool: string;
  readonly arguments: unknown;
  readonly output: unknown;
}

function isShownCall(value: unknown): value is ShownCall {
  return typeof value === 'object' && value !== null && 'tool' in value && 'arguments' in value && 'output' in value;
}

beforeAll(async () => {
  const plugins = join(folder, 'plugins');
  mkdirSync(plugins);
  cpSync(new URL('../../node_modules/zod', import.meta.url), join(folder, 'node_modules/zod'), { recursive: true });
  for (const [, name = '', text = ''] of codeBlocks) writeFileSync(join(plugins, name), text);
  const sidecar = jsonBlocks.find((block) => !isShownCall(block));
  cpSync(new URL('../../wasm/count-vowels.wasm', import.meta.url), join(plugins, 'count-vowels.wasm'));
  writeFileSync(join(plugins, 'count-vowels.json'), JSON.stringify(sidecar));
  daemon = await startExampleDaemon({ grantRequested: true, plugins: [plugins] });
});

afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('docs/plugin-format.md', () => {
  it('shows plugins that load without a warning', () => {
    expect(codeBlocks).toHaveLength(7);
    const shown = daemon.plugins.list().map(({ name, state, warnings, diagnostic }) => ({ name, state, warnings, diagnostic }));
    const ready = ['bookmarks', 'count_vowels', 'greet', 'pixel', 'recipes', 'shout', 'temperature', 'trip'];
    expect(shown).toEqual(ready.map((name) => ({ name, state: 'ready', warnings: [], diagnostic: undefined })));
  });

  it.each(calls.map((call) => [call.tool, call] as const))('shows what %s answers', async (_tool, call) => {
    expect(await daemon.call(call.tool, call.arguments)).toMatchObject({ status: 'success', output: call.output });
  });

  it('has a row for every key', () => {
    const missing = [...pluginKeys, ...toolKeys].filter((key) => !page.includes(`\n| \`${key}\` |`));
    expect(missing).toEqual([]);
  });
});
