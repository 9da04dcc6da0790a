import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { giveWarmCache } from '../data-dir.ts';
import type { eras } from './clients.ts';

const program = resolve('bin/hotcell.js');
let folder: string;
let clients: Client[];
beforeEach(() => {
  clients = [];
  folder = mkdtempSync(join(tmpdir(), 'hotcell-stdio-'));
  mkdirSync(join(folder, 'plugins'));
  writeFileSync(
    join(folder, 'plugins', 'hello.ts'),
    `export default { description: 'Greets.', handler: ({ name }: { name: string }) => 'hello ' + name };`,
  );
  writeFileSync(join(folder, 'hotcell.config.yaml'), 'port: 0\nworkers: { min: 1, max: 1 }\n');
  giveWarmCache(join(folder, '.hotcell'));
});
afterEach(async () => {
  for (const client of clients) await client.close();
  if (existsSync(join(folder, '.hotcell', 'daemon.json'))) run('stop');
  rmSync(folder, { recursive: true, force: true });
});

const runWith = (env: Record<string, string>, ...words: string[]) =>
  execFileSync(process.execPath, [program, ...words], {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
    env: { ...process.env, ...env },
  });
const run = (...words: string[]) => runWith({}, ...words);

const daemonPid = (): number => JSON.parse(readFileSync(join(folder, '.hotcell', 'daemon.json'), 'utf8')).pid;

async function connect(
  era: (typeof eras)[number],
  words: readonly string[] = ['mcp'],
  env: Record<string, string> = {},
  capabilities = {},
): Promise<Client> {
  const mode = era === '2025-11-25' ? ('legacy' as const) : { pin: era };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
  clients.push(client);
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const all = { ...Object.fromEntries(inherited), ...env };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, ...words], cwd: folder, env: all, stderr: 'pipe' }),
  );
  return client;
}

const hello = async (client: Client) => (await client.callTool({ name: 'hello', arguments: { name: 'you' } })).content;
const greeting = [{ type: 'text', text: 'hello you' }];

describe('hotcell mcp on standard streams', () => {
  it('starts a daemon that clients of both eras share, and finds another when that one was killed', async () => {
    const first = await connect('2025-11-25');
    expect(await hello(first)).toEqual(greeting);
    const pid = daemonPid();
    const second = await connect('2026-07-28');
    expect(await hello(second)).toEqual(greeting);
    expect(daemonPid()).toBe(pid);

    process.kill(pid, 'SIGKILL');
    expect(await Promise.all([hello(first), hello(second)])).toEqual([greeting, greeting]);
    expect(daemonPid()).not.toBe(pid);
  });

  it('carries an answer to the call that asked for it, though the daemon was killed in between', async () => {
    writeFileSync(
      join(folder, 'plugins', 'danger.ts'),
      `export default { description: 'Deletes.', isDangerous: true, handler: ({ what }: { what: string }) => 'deleted ' + what };`,
    );
    await hello(await connect('2026-07-28'));
    const key = run('key', 'create', '--may-answer', '--name', 'asks').trim();
    const client = await connect('2026-07-28', ['mcp'], { HOTCELL_TOKEN: key }, { elicitation: { form: {} } });
    const killed: number[] = [];
    client.setRequestHandler('elicitation/create', async () => {
      killed.push(daemonPid());
      process.kill(daemonPid(), 'SIGKILL');
      return { action: 'accept', content: { allow: true } };
    });
    const { content } = await client.callTool({ name: 'danger', arguments: { what: 'all' } });
    expect(content).toEqual([{ type: 'text', text: 'deleted all' }]);
    expect(killed).toHaveLength(1);
    expect(daemonPid()).not.toBe(killed[0]);
    // The key of a client that had to start a daemon is no operator's key there.
    expect(() => runWith({ HOTCELL_TOKEN: key }, 'key', 'list')).toThrow(/role admin/);
  });

  it('tells a client whose answer broke off with its daemon', async () => {
    writeFileSync(
      join(folder, 'plugins', 'slow.ts'),
      `export default { description: 'Waits.', handler: () => new Promise((resolve) => setTimeout(resolve, 20_000)) };`,
    );
    const client = await connect('2025-11-25');
    await hello(client);
    const waiting = client.callTool({ name: 'slow', arguments: {} });
    await expect.poll(() => run('executions', '--json')).toContain('"slow"');
    process.kill(daemonPid(), 'SIGKILL');
    await expect(waiting).rejects.toThrow(/ended before it answered|fetch failed/);
    expect(await hello(client)).toEqual(greeting);
  });
});

describe('hotcell mcp install', () => {
  it('writes what a client needs, with a key of its own, and keeps what stood there', async () => {
    await hello(await connect('2025-11-25'));
    const file = join(folder, '.mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { other: { command: 'x' } }, more: 1 }));
    run('mcp', 'install', '--client', 'claude-code', '--tools', 'hello', '--yes');
    const { mcpServers, more } = JSON.parse(readFileSync(file, 'utf8'));
    expect(more).toBe(1);
    expect(mcpServers.other).toEqual({ command: 'x' });
    expect(statSync(file).mode & 0o077).toBe(0);
    const { args, env } = mcpServers.hotcell;
    const client = await connect('2025-11-25', args.slice(1), env);
    expect(await hello(client)).toEqual(greeting);
    const [status] = JSON.parse(run('mcp', 'status', '--json')).items;
    expect(status).toMatchObject({ client: 'test 1', era: '2025-11-25', listening: true });
    expect(run('key', 'list')).toContain('mcp claude-code');
  });

  it('shows what it would write, writes nothing without a yes, and touches no file that it cannot read', async () => {
    const file = join(folder, '.vscode', 'mcp.json');
    run('mcp', 'install', '--client', 'vscode', '--print');
    expect(existsSync(file)).toBe(false);
    mkdirSync(join(folder, '.vscode'));
    writeFileSync(file, '{ // mine\n}');
    expect(() => run('mcp', 'install', '--client', 'vscode', '--yes')).toThrow(
      /without comments: .*line 1 column 3[\s\S]*--client vscode --print shows/,
    );
    expect(JSON.parse(run('mcp', 'install', '--client', 'vscode', '--print')).servers.hotcell.env).toEqual({
      HOTCELL_TOKEN: 'KEY',
    });
    expect(readFileSync(file, 'utf8')).toContain('// mine');
    expect(() => run('mcp', 'install', '--client', 'cursr')).toThrow(/Did you mean cursor/);
    expect(() => run('mcp', 'install')).toThrow(/Expected --client to be one of claude-code, .*got nothing/);
    expect(() => run('mcp', 'install', '--client', 'cursor', '--name', 'a b')).toThrow(/--name[\s\S]*hotcell mcp install --help/);
  });

  it('writes nothing over that is no list of servers, through links, and tells of the key that stood there', async () => {
    await hello(await connect('2025-11-25'));
    const file = join(folder, '.mcp.json');
    const install = () => spawnSync(process.execPath, [program, 'mcp', 'install', '--client', 'claude-code', '--yes'], spawned);
    const spawned = { cwd: folder, encoding: 'utf8' } as const;
    writeFileSync(file, '{"mcpServers": [{"command": "mine"}]}');
    expect(install().stderr).toMatch(/Expected "mcpServers" in .* to be an object of servers by name, got \[/);
    expect(readFileSync(file, 'utf8')).toContain('mine');

    const kept = join(folder, 'kept.json');
    writeFileSync(kept, '{}');
    rmSync(file);
    symlinkSync(kept, file);
    const [, first = ''] = /the key (key_\w+)/.exec(install().stdout) ?? [];
    expect(install().stderr).toContain(`hotcell key revoke ${first}`);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(kept, 'utf8')).mcpServers.hotcell.env.HOTCELL_TOKEN).toMatch(/^hck_/);
  });
});
