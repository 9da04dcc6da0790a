import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import Type from 'typebox';
import { Compile } from 'typebox/compile';

const shimDir = new URL('../../../wasm/node/', import.meta.url);
const builtFile = new URL('../../guest/node-shims.json', import.meta.url);

/** Built-ins of Node that the sandbox has, by name without `node:`, and the file of each. */
export const nodeBuiltinShims: ReadonlyMap<string, string> = new Map(
  Object.entries({
    assert: 'assert.cjs',
    'assert/strict': 'assert-strict.cjs',
    buffer: 'buffer.ts',
    crypto: 'crypto.ts',
    events: 'events.cjs',
    path: 'path.ts',
    'path/posix': 'path.ts',
    querystring: 'querystring.ts',
    string_decoder: 'string_decoder.ts',
    timers: 'timers.ts',
    'timers/promises': 'timers-promises.ts',
    url: 'url.ts',
    util: 'util.ts',
    'util/types': 'util-types.ts',
  }).map(([name, file]) => [name, fileURLToPath(new URL(file, shimDir))]),
);

/** What to use instead, by the first part of the name; one sentence each. */
const insteadOf: Readonly<Record<string, string>> = {
  async_hooks: 'Pass values as arguments: every call runs in a sandbox of its own.',
  child_process: 'Use context.run(command, args) with the permission "run", or the docker engine.',
  cluster: 'Leave it out: the daemon runs calls in parallel by itself.',
  console: 'Use the global console, or context.log.',
  dgram: 'Use fetch: the sandbox has no sockets.',
  dns: 'Use fetch with a host name: the daemon resolves it.',
  fs: 'Use context.files, which reads and writes in the workspace of the caller.',
  http: 'Use fetch with the permission "net".',
  http2: 'Use fetch with the permission "net".',
  https: 'Use fetch with the permission "net".',
  module: 'Import with a fixed name: everything is bundled before it runs.',
  net: 'Use fetch: the sandbox has no sockets.',
  os: 'Leave it out: the sandbox shows nothing of the machine.',
  perf_hooks: 'Use the global performance.',
  process: 'Use context.env for settings and throw an error instead of ending the process.',
  punycode: 'Use the global URL, which converts host names.',
  readline: 'Use context.files and split the text: there is no terminal.',
  sqlite: 'Use context.kv for data that stays.',
  stream: 'Use the global ReadableStream, WritableStream and TransformStream.',
  test: 'Use the examples of the manifest: hotcell plugin test runs them.',
  tls: 'Use fetch: the sandbox has no sockets.',
  vm: 'Use the docker engine to run other code.',
  wasi: 'Drop the .wasm file as a plugin of the extism engine.',
  worker_threads: 'Leave it out: the daemon runs calls in parallel by itself.',
  zlib: 'Use a compression package written in JavaScript, such as fflate.',
};

/** Every other built-in of Node, with one sentence that names what to use instead. */
export const refusedBuiltins: ReadonlyMap<string, string> = new Map(
  builtinModules
    .map((name) => name.replace(/^node:/, ''))
    .filter((name) => !nodeBuiltinShims.has(name))
    .map((name) => [name, insteadOf[findTopic(name)] ?? 'Use the engine deno or docker for code that needs Node itself.']),
);

const shapesName = 'hotcell:shapes';

/** What makes plugins of tool files in other shapes, for a bundler. */
export function readShapesModule(): Promise<string> {
  return readNodeShim(shapesName);
}

/** The shims for a bundler: by name without `node:`, what reads the text of each. */
export const nodeBuiltins: ReadonlyMap<string, () => Promise<string>> = new Map(
  [...nodeBuiltinShims.keys()].map((name) => [name, () => readNodeShim(name)] as const),
);

/** Bundles a shim with what it imports, once; classes that must be one and the same come from the global object. */
function readNodeShim(name: string): Promise<string> {
  const known = texts.get(name);
  if (known) return known;
  const text = readBuiltShim(name) ?? bundleShim(fileOf(name));
  texts.set(name, text);
  return text;
}

const texts = new Map<string, Promise<string>>();
const builtShims = Compile(Type.Record(Type.String(), Type.String()));

/** What the package build left: every shim by name. */
function readBuiltShim(name: string): Promise<string> | undefined {
  if (!existsSync(builtFile)) return undefined;
  const built: unknown = JSON.parse(readFileSync(builtFile, 'utf8'));
  const text = builtShims.Parse(built)[name];
  return text === undefined ? undefined : Promise.resolve(text);
}

/** Bundles every shim, for the package build. */
export async function bundleNodeShims(): Promise<Record<string, string>> {
  const names = [...nodeBuiltinShims.keys(), shapesName];
  const entries = names.map(async (name) => [name, await bundleShim(fileOf(name))] as const);
  return Object.fromEntries(await Promise.all(entries));
}

function fileOf(name: string): string {
  return nodeBuiltinShims.get(name) ?? fileURLToPath(new URL('../shapes/adapt.ts', shimDir));
}

async function bundleShim(file: string): Promise<string> {
  const result = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: file.endsWith('.cjs') ? 'cjs' : 'esm',
    platform: 'neutral',
    target: 'es2023',
    tsconfigRaw: '{}',
    logLevel: 'silent',
  });
  return result.outputFiles[0]?.text ?? '';
}

/** `fs/promises` and `_http_agent` are explained like `fs` and `http`. */
function findTopic(name: string): string {
  return /^_?([a-z0-9]+(?:_(?:hooks|process|threads|decoder))?)/.exec(name)?.[1] ?? name;
}
