import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ownerLabel } from '../../src/engines/process/docker/container/container-flags.ts';
import { nameOwner } from '../../src/engines/process/docker/container/containers.ts';
import { describeDocker, testImages } from '../engines/process/docker/docker-machine.ts';
import { fixture, type McpHouse, openMcpHouse, programOf } from './mcp-house.ts';

const image = `hotcell-test/mcp-${process.pid}:1`;
const memoryBytes = 192 * 1024 * 1024;

/** Image and entry of a container that is not there. */
const nowhere = { command: 'node', container: 'hotcell-test/no-such-image:1' };

function docker(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** The image with Node, with a published server and one of ours in it. */
async function makeImage(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-mcp-'));
  try {
    const outfile = join(folder, 'memory.mjs');
    const banner = { js: "import { createRequire } from 'node:module';const require = createRequire('/x.js');" };
    await build({ entryPoints: [programOf('server-memory')], bundle: true, platform: 'node', format: 'esm', outfile, banner });
    const id = docker('create', testImages.node, 'none');
    docker('cp', outfile, `${id}:/memory.mjs`);
    docker('cp', fixture('probe.mjs'), `${id}:/probe.mjs`);
    docker('commit', id, image);
    docker('rm', id);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describeDocker('MCP servers in containers', () => {
  let web: Server;
  let dataDir: string;
  let house: McpHouse;

  beforeAll(async () => {
    await makeImage();
    dataDir = mkdtempSync(join(tmpdir(), 'hotcell-mcp-'));
    web = createServer((_request, response) => response.end('the page'));
    await new Promise<void>((resolve) => void web.listen(0, '127.0.0.1', resolve));
    house = await openMcpHouse(
      {
        memory: {
          command: 'node',
          args: ['/memory.mjs'],
          container: image,
          env: { MEMORY_FILE_PATH: '/workspace/memory.json' },
        },
        probe: { command: 'node', args: ['/probe.mjs'], container: image },
        online: { command: 'node', args: ['/probe.mjs'], container: image, net: [`127.0.0.1:${port()}`] },
        program: { command: 'no-such-program', container: image },
        nowhere,
        loose: { command: 'node', net: ['example.com'] },
        afar: { url: 'https://example.com/mcp', container: image },
      },
      { docker: { memoryBytes } },
      { dataDir },
    );
  }, 120_000);
  afterAll(async () => {
    await house?.close();
    web?.close();
    rmSync(dataDir, { recursive: true, force: true });
    spawnSync('docker', ['rmi', '-f', image], { stdio: 'ignore' });
  });

  function port(): number {
    const address = web.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async function ask(tool: string, args: unknown = {}): Promise<unknown> {
    const { status, output, error } = await house.call(tool, args);
    expect(error).toBeUndefined();
    return status === 'success' ? JSON.parse(String(output)) : status;
  }

  async function countContainers(): Promise<number> {
    const label = `${ownerLabel}=${nameOwner(dataDir)}`;
    return (await new Docker().listContainers({ all: true, filters: { label: [label] } })).length;
  }

  it('are not started before a person saw command line, image and network', async () => {
    const asked = await house.until(() => house.asked('probe'));
    expect(asked.question).toContain('in a container of this image');
    expect(asked.details).toMatchObject({ command: ['node', '/probe.mjs'], image, network: 'none', secrets: 'none' });
    const online = await house.until(() => house.asked('online'));
    expect(online.details).toMatchObject({ network: `127.0.0.1:${port()}` });
    expect(online.argumentsHash).not.toBe(asked.argumentsHash);
    expect(await countContainers()).toBe(0);
  });

  it('serve as those of this machine do', async () => {
    await house.admit('memory');
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
    expect(await house.call('memory/create_entities', { entities })).toMatchObject({ status: 'success' });
    expect(await house.call('memory/read_graph')).toMatchObject({ output: { entities } });
    expect(house.parts.mcp.get('memory')).toMatchObject({ target: `node /memory.mjs (in a container of ${image})` });
    expect(house.parts.mcp.get('memory')).not.toHaveProperty('pid');
  });

  it('see nothing of the daemon, are nobody, write in two folders alone and have no network', async () => {
    await house.admit('probe');
    const seen: { env: Record<string, string> } = Object(await ask('probe/look'));
    expect(seen).toMatchObject({ uid: 65_534, folder: '/workspace', interfaces: ['lo'], privileges: '1' });
    expect(Object.keys(seen.env).sort()).toEqual(['HOME', 'PATH', 'TMPDIR']);
    expect(await ask('probe/write', { path: '/probe.txt' })).toBe('EROFS');
    expect(await ask('probe/write', { path: '/workspace/probe.txt' })).toBe('written');
    expect(await ask('probe/get', { url: `http://127.0.0.1:${port()}/` })).toBe('ECONNREFUSED');
  });

  it('go where their entry says, and nowhere else', async () => {
    await house.admit('online');
    expect(await ask('online/get', { url: `http://127.0.0.1:${port()}/` })).toBe('200 the page');
    expect(await ask('online/get', { url: 'http://127.0.0.1:1/' })).toMatch(/^403 /);
    expect(await ask('online/get', { url: 'http://169.254.169.254/latest/meta-data' })).toMatch(/^403 /);
  });

  it('may use so much memory, and are there again for the next call', async () => {
    expect((await house.call('probe/eat')).error).toMatchObject({
      code: 'mcp-unreachable',
      message: expect.stringContaining('used all the memory of its container'),
    });
    expect(await ask('probe/look')).toMatchObject({ uid: 65_534 });
    expect((await house.call('probe/leave')).error?.message).toContain(
      'ended with exit code 3. To its standard error it said: I am leaving.',
    );
    expect(await ask('probe/write', { path: '/workspace/again.txt' })).toBe('written');
  });

  it('say what is missing', async () => {
    await house.answer('program');
    await house.answer('nowhere');
    const errorOf = async (name: string) => (await house.server(name, ({ state }) => state === 'failed')).lastError;
    expect(await errorOf('program')).toContain(`There is no program "no-such-program" in the image ${image}`);
    expect(await errorOf('nowhere')).toMatch(
      new RegExp(`The image ${nowhere.container} is not on this machine.*docker pull ${nowhere.container}`),
    );
    expect(house.parts.mcp.get('loose')).toMatchObject({ state: 'invalid', lastError: expect.stringContaining('net') });
    expect(house.parts.mcp.get('afar')).toMatchObject({ state: 'invalid', lastError: expect.stringContaining('container') });
  });

  it('end with the daemon, and leave nothing behind', async () => {
    expect(await countContainers()).toBeGreaterThan(2);
    await house.close();
    expect(await countContainers()).toBe(0);
  });
});
