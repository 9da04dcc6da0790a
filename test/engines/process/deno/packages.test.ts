import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeBuiltins, refusedBuiltins } from '../../../../src/guests/node-builtins.ts';
import { createCompiler } from '../../../../src/plugins/compile/compile.ts';
import type { CompileResult } from '../../../../src/plugins/compile/compile-types.ts';
import { selfSigned } from '../../../capabilities/network/self-signed.ts';
import { createDenoRig } from './deno-rig.ts';
import { dialling, type Places, startPlaces } from './places.ts';

const rig = createDenoRig();
const root = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-packages-')));
const compiler = createCompiler({ sharedDirs: [], builtins: nodeBuiltins, refusedBuiltins });
let places: Places;
let count = 0;

beforeAll(async () => {
  places = await startPlaces();
  const installed = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
  for (const name of ['undici', 'ws', 'semver', 'yaml', 'zod']) {
    cpSync(join(installed, name), join(root, 'node_modules', name), { recursive: true });
  }
  write('node_modules/old-fashioned/package.json', '{"name":"old-fashioned","main":"index.js"}');
  write(
    'node_modules/old-fashioned/index.js',
    "const { join } = require('path'); const zlib = require('zlib');\nmodule.exports = { place: join(__dirname, 'a'), packed: (text) => zlib.gunzipSync(zlib.gzipSync(text)).toString() };",
  );
  write('node_modules/two-faced/package.json', '{"name":"two-faced","exports":{"node":"./node.js","default":"./web.js"}}');
  write('node_modules/two-faced/node.js', "exports.face = 'node';");
  write('node_modules/two-faced/web.js', "exports.face = 'web';");
  write(
    'node_modules/starts-programs/index.js',
    "const child = require('child_process');\nexports.run = () => child.execSync('true');",
  );
});
afterAll(async () => {
  await rig.close();
  await places.close();
  await compiler.close();
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

async function compile(text: string): Promise<CompileResult> {
  const name = `plugin-${++count}.ts`;
  write(name, text);
  return compiler.compile({ entry: join(root, name), rootDir: root, pluginDir: root, isFolder: true, target: 'deno' });
}

/** Compiles a plugin that begins with `imports`, and calls its handler. */
async function run(imports: string, body: string, args: object = {}, net: readonly string[] = []) {
  const built = await compile(
    `${imports}\nexport default { name: 'packaged', engine: 'deno', async handler(args, context) { ${body} } };`,
  );
  if (!built.ok) throw new Error(built.diagnostic.message);
  return rig.run(built.code, { args, ...dialling(net), limits: { memoryBytes: 64 * 1024 * 1024 } });
}

describe('packages of a plugin in Deno', () => {
  it.each([
    ['an ES module', "import { parse } from 'yaml'", "return parse('a: [1, 2]')", { a: [1, 2] }],
    ['a CommonJS module', "import semver from 'semver'", "return semver.satisfies('1.2.3', '^1.0.0')", true],
    ['one that validates', "import { z } from 'zod'", 'return z.object({ a: z.number() }).safeParse({ a: 1 }).success', true],
    [
      'one that uses built-ins and looks beside itself',
      "import old from 'old-fashioned'",
      "return [old.place, old.packed('text')]",
      ['/plugin/a', 'text'],
    ],
    ['the face of one that is meant for Node', "import { face } from 'two-faced'", 'return face', 'node'],
    [
      'one that could start programs, as long as it does not',
      "import * as it from 'starts-programs'",
      'return typeof it.run',
      'function',
    ],
  ])('are bundled: %s', async (_what, imports, body, output) => {
    expect(await run(imports, body)).toMatchObject({ status: 'success', output });
  });

  it.each([
    ['npm:yaml@2', 'npm install yaml'],
    ['jsr:@std/yaml', 'npm install @std/yaml'],
    ['https://deno.land/x/a.ts', 'Save the code'],
  ])('come from node_modules only: %s is refused', async (specifier, fix) => {
    const built = await compile(`import a from '${specifier}';\nexport default { name: 'a', handler: () => a };`);
    expect(built).toMatchObject({
      ok: false,
      diagnostic: { code: 'import-refused', line: 1, fix: expect.stringContaining(fix) },
    });
  });

  it('start no program', async () => {
    const outcome = await run("import * as it from 'starts-programs'", 'return it.run()');
    expect(outcome).toMatchObject({
      status: 'error',
      error: { message: expect.stringMatching(/environment is not there|may not start/) },
    });
  });

  it('reach granted places with undici', async () => {
    const ask =
      "const { statusCode, body } = await request(args.url, { method: 'POST', body: 'abc' }); return [statusCode, await body.text()]";
    const url = `http://127.0.0.1:${places.plain}/`;
    expect(await run("import { request } from 'undici'", ask, { url }, [`127.0.0.1:${places.plain}`])).toMatchObject({
      output: [200, 'POST 3'],
    });
    expect(await run("import { request } from 'undici'", ask, { url })).toMatchObject({ error: { code: 'permission-denied' } });
  });

  it('speak TLS with undici', async () => {
    const ask = `const dispatcher = new Agent({ connect: { ca: args.ca } });
      return (await request(args.url, { dispatcher })).body.text()`;
    const args = { url: `https://secure.test:${places.secure}/b`, ca: selfSigned.cert };
    const net = [`secure.test:${places.secure}`, `127.0.0.1:${places.secure}`];
    expect(await run("import { Agent, request } from 'undici'", ask, args, net)).toMatchObject({ output: 'secure /b' });
    expect(await run("import { Agent, request } from 'undici'", ask, args)).toMatchObject({
      error: { code: 'permission-denied' },
    });
  });

  it('speak WebSocket with ws', async () => {
    const talk = `const socket = new WebSocket(args.url); return new Promise((resolve, reject) => {
      socket.on('message', (data) => { resolve(String(data)); socket.terminate() }).on('error', reject) })`;
    const url = `ws://127.0.0.1:${places.plain}/`;
    const imports = "import { WebSocket } from 'ws'";
    expect(await run(imports, talk, { url }, [`127.0.0.1:${places.plain}`])).toMatchObject({ output: 'hello ' });
    expect(await run(imports, talk, { url })).toMatchObject({ error: { code: 'permission-denied' } });
  });
});

describe('built-ins of Node in Deno', () => {
  it.each([
    [
      'crypto',
      "import { createHash } from 'node:crypto'",
      "return createHash('sha1').update('a').digest('hex').slice(0, 8)",
      '86f7e437',
    ],
    ['zlib', "import zlib from 'node:zlib'", "return zlib.inflateSync(zlib.deflateSync('abc')).toString()", 'abc'],
    [
      'stream',
      "import { Readable } from 'node:stream'",
      "let all = ''; for await (const part of Readable.from(['a', 'b'])) all += part; return all",
      'ab',
    ],
    [
      'async_hooks',
      "import { AsyncLocalStorage } from 'node:async_hooks'",
      'return new AsyncLocalStorage().run(5, async () => { await 0; return 1 })',
      1,
    ],
    ['vm', "import vm from 'node:vm'", "return vm.runInNewContext('a + 1', { a: 1 })", 2],
    [
      'globals',
      '',
      "return [Buffer.from('a').toString('hex'), typeof setImmediate, typeof process.nextTick]",
      ['61', 'function', 'function'],
    ],
    ['os', "import os, { hostname } from 'node:os'", 'return [os.hostname(), hostname()]', ['hotcell', 'hotcell']],
    [
      'fs',
      "import fs from 'node:fs'",
      "try { return fs.readFileSync('/etc/passwd') } catch (error) { return error.name }",
      'NotCapable',
    ],
    ['process', "import process from 'node:process'", 'return Object.keys(process.env)', []],
  ])('answer within what is granted: %s', async (_name, imports, body, output) => {
    expect(await run(imports, body)).toMatchObject({ status: 'success', output });
  });

  it.each(['node:child_process', 'cluster'])('are refused where they start programs: %s', async (name) => {
    const built = await compile(`import * as it from '${name}';\nexport default { name: 'a', handler: () => it };`);
    expect(built).toMatchObject({ ok: false, diagnostic: { code: 'builtin-refused', message: expect.stringContaining(name) } });
  });

  it('are those that the engine replaced, by every kind of import', async () => {
    const imports = "import { connect } from 'node:tls';\nimport tls from 'tls';\nimport * as all from 'node:tls';";
    const body =
      "const later = await import('node:tls'); return [tls.connect === connect, all.connect === connect, later.connect === connect, all.default.connect === connect, connect.name]";
    expect(await run(imports, body)).toMatchObject({ output: [true, true, true, true, expect.any(String)] });
  });
});
