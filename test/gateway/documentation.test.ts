import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBlocks, repository } from '../docs/markdown.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { type Provider, startProvider } from './provider-server.ts';
import { call, say, toolPlugins } from './scripted.ts';

const clients = readBlocks('docs/gateway.md').filter(({ language }) => language === 'js');

describe('the clients of docs/gateway.md', () => {
  let provider: Provider;
  let small: Awaited<ReturnType<typeof startSmallDaemon>>;
  let folder: string;

  beforeAll(async () => {
    provider = await startProvider();
    const openai = { baseUrl: `${provider.url}/v1`, key: 'KEY' };
    small = await startSmallDaemon(toolPlugins, { env: { KEY: 'k' }, models: { providers: { openai } } }, { listen: true });
    folder = mkdtempSync(join(tmpdir(), 'hotcell-gateway-'));
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(async () => {
    await small.close();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are those of four kits', () => {
    expect(clients.map(({ file }) => file)).toEqual(['openai.mjs', 'responses.mjs', 'anthropic.mjs', 'gemini.mjs', 'ai.mjs']);
  });

  it.each(clients)('$file has a tool called, and prints the answer', async ({ file = '', text }) => {
    // The address is that of the test; everything else is what the page says.
    writeFileSync(join(folder, file), text.replace('http://127.0.0.1:7420', small.daemon.url ?? ''));
    const { key } = small.parts.keys.create({ name: file, role: 'caller' });
    say(provider, 'openai-chat', /stream/.test(text), [[call('c1', 'weather', { city: 'Oslo' })], []]);
    const env = { ...process.env, HOTCELL_KEY: key };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder, env });
    expect(stdout).toContain('Let me see.');
    expect(provider.seen.at(-1)?.body.model).toBe('gpt-4o');
    expect(JSON.stringify(provider.seen.at(-1)?.body)).toContain('sunny in Oslo');
  });
});
