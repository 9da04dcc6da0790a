import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createPlugin } from '@extism/extism';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hotcell-package-'));
const bin = join(folder, 'node_modules', 'hotcell', 'bin', 'hotcell.js');
const dataDir = join(folder, 'data');
// npm and its scripts must run on this Node, whatever the system has.
const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), HOTCELL_TOKEN: undefined };
const olderNode = await findOlderNode();
let daemon: ChildProcess | undefined;

beforeAll(async () => {
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, env });
  const file = /[^"\s]+\.tgz/.exec(packed.stdout)?.[0] ?? 'no tarball';
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  if (process.env.HOTCELL_LONG)
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, file)], { cwd: folder, env });
  else await unpack(join(folder, file));
  mkdirSync(join(folder, 'plugins'));
  writeFileSync(
    join(folder, 'plugins', 'greet.ts'),
    `import { createHash } from 'node:crypto';
import { definePlugin } from 'hotcell';

export default definePlugin({
  description: 'Greets somebody.',
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  handler: ({ name }) => ({
    text: 'Hello ' + name,
    host: new URL('https://example.com/').host,
    hash: createHash('sha256').update(name).digest('hex').slice(0, 8),
  }),
});
`,
  );
}, 600_000);

afterAll(async () => {
  if (daemon?.exitCode === null) {
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon?.once('exit', resolve));
  }
  rmSync(folder, { recursive: true, force: true });
});

/** As npm installs it, with what it declares to depend on and nothing else. That npm does so too: `npm run test:long package`. */
async function unpack(file: string): Promise<void> {
  const packageDir = join(folder, 'node_modules', 'hotcell');
  mkdirSync(packageDir, { recursive: true });
  await run('tar', ['-xzf', file, '-C', packageDir, '--strip-components=1']);
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const [installed, wanted] = [join(root, 'node_modules', name), join(folder, 'node_modules', name)];
    if (!existsSync(installed)) continue;
    mkdirSync(dirname(wanted), { recursive: true });
    symlinkSync(installed, wanted);
  }
}

/** A Node before 24 on the path, such as the one of the operating system. */
async function findOlderNode(): Promise<string | undefined> {
  const candidates = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  for (const candidate of new Set(candidates.map((path) => join(path, 'node')))) {
    if (!existsSync(candidate)) continue;
    const { stdout } = await run(candidate, ['--version']).catch(() => ({ stdout: '' }));
    const major = Number(/^v(\d+)\./.exec(stdout)?.[1] ?? Number.NaN);
    if (major < 24) return candidate;
  }
  return undefined;
}

/** Starts the installed daemon; resolves with its address. */
function startDaemon(): Promise<string> {
  const child = spawn(process.execPath, [bin, 'start', '--port', '0', '--data', dataDir], { cwd: folder, env });
  daemon = child;
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    const note = (line: string): void => {
      lines.push(line);
      const url = /listening on (http:\/\/[\d.:]+)/.exec(line)?.[1];
      if (url) resolve(url);
    };
    createInterface({ input: child.stdout }).on('line', note);
    createInterface({ input: child.stderr }).on('line', note);
    child.once('exit', (code) => reject(new Error(`The daemon ended with ${code}:\n${lines.join('\n')}`)));
  });
}

describe('the published package', () => {
  it('carries JavaScript with declarations, and neither sources nor tests', async () => {
    const packageDir = join(folder, 'node_modules', 'hotcell');
    expect(existsSync(join(packageDir, 'dist', 'plugin.d.ts'))).toBe(true);
    expect(existsSync(join(packageDir, 'dist', 'guests', 'prelude.json'))).toBe(true);
    for (const absent of ['src', 'test', 'scripts', 'bench']) expect(existsSync(join(packageDir, absent))).toBe(false);
  });

  it('serves a plugin that is dropped beside it', async () => {
    const url = await startDaemon();
    const token = readFileSync(join(dataDir, 'token'), 'utf8').trim();
    const response = await fetch(`${url}/api/tools/greet/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { name: 'Ada' } }),
    });
    expect(await response.json()).toMatchObject({
      status: 'success',
      output: { text: 'Hello Ada', host: 'example.com', hash: createHash('sha256').update('Ada').digest('hex').slice(0, 8) },
    });
  });

  it('builds a plugin into a module that the plain SDK runs', async () => {
    const { stdout } = await run(process.execPath, [bin, 'build', 'plugins/greet.ts', '-o', 'greet.wasm'], { cwd: folder, env });
    expect(stdout).toContain('exports describe, call, greet');
    const plugin = await createPlugin(
      { wasm: [{ data: new Uint8Array(readFileSync(join(folder, 'greet.wasm'))) }] },
      { useWasi: true },
    );
    expect((await plugin.call('greet', '{"name":"Ada"}'))?.json()).toMatchObject({ text: 'Hello Ada', host: 'example.com' });
    await plugin.close();
  });

  it('types a plugin for its author', async () => {
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: [] },
        files: ['typed.ts'],
      }),
    );
    writeFileSync(
      join(folder, 'typed.ts'),
      `import { definePlugin } from 'hotcell';
export default definePlugin({
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  handler: ({ name }) => name.toUpperCase(),
});
// @ts-expect-error: the flag is a boolean
definePlugin({ isDangerous: 'yes', handler: () => 1 });
`,
    );
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const outcome = await run(process.execPath, [tsc, '-p', folder]).then(
      () => 'no error',
      (error: unknown) => Object(error).stdout,
    );
    expect(outcome).toBe('no error');
  });

  it('types the plugin that it writes in a folder where the package is not installed', async () => {
    const project = mkdtempSync(join(tmpdir(), 'hotcell-project-'));
    await run(process.execPath, [bin, 'init'], { cwd: project, env });
    await run(process.execPath, [bin, 'plugin', 'new', 'hello'], { cwd: project, env });
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const outcome = await run(process.execPath, [tsc, '-p', project]).then(
      () => 'no error',
      (error: unknown) => Object(error).stdout,
    );
    rmSync(project, { recursive: true, force: true });
    expect(outcome).toBe('no error');
  });

  it.skipIf(olderNode === undefined)('says in one sentence what it needs on an older Node', async () => {
    const outcome = await run(olderNode ?? '', [bin, 'plugin', 'list'], { cwd: folder }).then(
      ({ stdout }) => ({ code: 0, stderr: stdout }),
      (error: unknown) => ({ code: Object(error).code, stderr: String(Object(error).stderr) }),
    );
    expect(outcome).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^hotcell needs Node 24 or newer, but this is Node \S+: .+\n$/),
    });
  });

  it.skipIf(olderNode === undefined)('runs again on the Node that a checkout brings', async () => {
    const { stdout } = await run(olderNode ?? '', [join(root, 'bin', 'hotcell.js'), '--help'], { cwd: folder });
    expect(stdout).toContain('Usage: hotcell');
  });
});
