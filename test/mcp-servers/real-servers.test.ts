import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpHouse, nodeServer, openMcpHouse, programOf } from './mcp-house.ts';

let folder: string;
let house: McpHouse;

describe('published servers over stdio', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-mcp-'));
    writeFileSync(join(folder, 'note.txt'), 'kept');
    house = await openMcpHouse({
      everything: nodeServer(programOf('server-everything')),
      files: nodeServer(programOf('server-filesystem'), [folder]),
      memory: nodeServer(programOf('server-memory'), [], { env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } }),
    });
    await Promise.all(['everything', 'files', 'memory'].map((name) => house.admit(name)));
  });
  afterAll(async () => {
    await house?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('join the registry with their schemas, and answer like any tool', async () => {
    const read = house.parts.tools.resolve('files/read_text_file');
    expect(read).toMatchObject({ source: 'mcp', plugin: 'mcp:files', manifest: { flags: { isParallelSafe: true } } });
    const record = await house.call('files/read_text_file', { path: join(folder, 'note.txt') });
    expect(record).toMatchObject({ status: 'success', output: { content: 'kept' } });
    expect(await house.call('everything/echo', { message: 'hello' })).toMatchObject({ output: 'Echo: hello' });
    await expect(house.call('everything/echo', { massage: 'hello' })).rejects.toMatchObject({ code: 'arguments-invalid' });
  });

  it('give structured content, pictures and progress as any tool gives them', async () => {
    expect(await house.call('everything/get-structured-content', { location: 'New York' })).toMatchObject({
      output: { temperature: expect.any(Number), conditions: expect.any(String) },
    });
    const { output } = await house.call('everything/get-tiny-image');
    expect(output).toMatchObject({
      content: expect.arrayContaining([expect.objectContaining({ type: 'image', mimeType: 'image/png' })]),
    });
    await house.call('everything/trigger-long-running-operation', { duration: 1, steps: 4 });
    const told = house.events.filter(({ type }) => type === 'execution-progress').map(({ data }) => data);
    expect(told).toContainEqual(expect.objectContaining({ done: 4, total: 4 }));
  });

  it('bring their prompts and resources along', async () => {
    const { operations } = house.daemon;
    const invoke = async (name: string, input: unknown): Promise<unknown> => {
      const operation = operations.find((each) => each.name === name);
      return operation?.handle(input, { caller: { id: 'local', role: 'admin' }, signal: new AbortController().signal });
    };
    const prompts = await invoke('prompts.list', { q: 'everything/' });
    expect(prompts).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ name: 'everything/simple-prompt', plugin: 'mcp:everything' })]),
    });
    expect(await invoke('prompts.get', { name: 'everything/args-prompt', arguments: { city: 'Paris' } })).toMatchObject({
      output: { messages: [{ role: 'user', content: { type: 'text', text: expect.stringContaining('Paris') } }] },
    });
    const uri = 'demo://resource/dynamic/text/7';
    expect(await invoke('resources.read', { uri })).toMatchObject({
      output: { contents: [{ uri, text: expect.stringContaining('7') }] },
    });
    const ref = { type: 'prompt', name: 'everything/completable-prompt' };
    expect(await invoke('completions.complete', { ref, argument: { name: 'department', value: 'S' } })).toMatchObject({
      values: expect.arrayContaining(['Sales']),
    });
  });

  it('are there again for the next call after they were killed', async () => {
    const names = ['everything', 'files', 'memory'];
    const pids = names.map((name) => house.parts.mcp.get(name).pid ?? 0);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await Promise.all(names.map((name, at) => house.server(name, (view) => view.pid !== pids[at])));
    expect(await house.call('memory/read_graph')).toMatchObject({ status: 'success', output: { entities: [] } });
    expect(await house.call('files/read_text_file', { path: join(folder, 'note.txt') })).toMatchObject({
      output: { content: 'kept' },
    });
    expect(await house.call('everything/echo', { message: 'again' })).toMatchObject({ output: 'Echo: again' });
  });
});

describe('programs that are no servers', () => {
  it('are told of by name, by how they ended and by their last words', async () => {
    const said = 'console.error("cannot read the frobnicator"); process.exit(3)';
    const failing = await openMcpHouse({
      missing: { command: 'no-such-program-here' },
      homeless: { command: process.execPath, cwd: '/no/such/folder' },
      dying: { command: process.execPath, args: ['-e', said] },
      page: { command: 'x', url: 'http://127.0.0.1/' },
    });
    try {
      for (const name of ['missing', 'homeless', 'dying']) await failing.answer(name);
      const errorOf = async (name: string) => (await failing.server(name, ({ state }) => state === 'failed')).lastError;
      expect(await errorOf('missing')).toContain('There is no program "no-such-program-here"');
      expect(await errorOf('homeless')).toContain('There is no folder "/no/such/folder"');
      expect(await errorOf('dying')).toBe(
        'The program ended with exit code 3. To its standard error it said: cannot read the frobnicator',
      );
      expect(failing.parts.mcp.get('page').lastError).toContain('a url and a command');
    } finally {
      await failing.close();
    }
  });
});
