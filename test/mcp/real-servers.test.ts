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
});
