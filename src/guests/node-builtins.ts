import { existsSync, readFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { bundleGuest, listExportedNames } from './bundle.ts';

const shimDir = new URL('./node/', import.meta.url);
const builtFile = new URL('./node-shims.json', import.meta.url);

/** Built-ins of Node that the sandbox has, by name without `node:`, and the file of each. */
export const nodeBuiltinShims: ReadonlyMap<string, string> = new Map(
  Object.entries({
    assert: 'assert/assert.cjs',
    'assert/strict': 'assert/assert-strict.cjs',
    async_hooks: 'async_hooks.ts',
    buffer: 'buffer/buffer.ts',
    console: 'console.cjs',
    constants: 'os.ts',
    crypto: 'crypto/crypto.ts',
    diagnostics_channel: 'diagnostics_channel.ts',
    events: 'events/events.cjs',
    os: 'os.ts',
    path: 'path.ts',
    'path/posix': 'path.ts',
    perf_hooks: 'perf_hooks.ts',
    process: 'process.cjs',
    querystring: 'querystring.ts',
    stream: 'stream/stream.cjs',
    'stream/consumers': 'stream/consumers.ts',
    'stream/promises': 'stream/promises.cjs',
    'stream/web': 'stream/web.cjs',
    string_decoder: 'string_decoder.ts',
    sys: 'util/util.ts',
    timers: 'timers/timers.ts',
    'timers/promises': 'timers/promises.ts',
    tty: 'tty.ts',
    url: 'url.ts',
    util: 'util/util.ts',
    'util/types': 'util/types.ts',
    worker_threads: 'worker_threads.ts',
    zlib: 'zlib.cjs',
  }).map(([name, file]) => [name, fileURLToPath(new URL(file, shimDir))]),
);

/** What to use instead, by the first part of the name; one sentence each. */
const insteadOf: Readonly<Record<string, string>> = {
  child_process: 'Use context.run(command, args) with the permission "run", or the docker engine.',
  cluster: 'Leave it out: the daemon runs calls in parallel by itself.',
  dgram: 'Use fetch: the sandbox has no sockets.',
  dns: 'Use fetch with a host name: the daemon resolves it.',
  fs: 'Use context.files, which reads and writes in the workspace of the caller.',
  http: 'Use fetch with the permission "net".',
  http2: 'Use fetch with the permission "net".',
  https: 'Use fetch with the permission "net".',
  module: 'Import with a fixed name: everything is bundled before it runs.',
  net: 'Use fetch: the sandbox has no sockets.',
  punycode: 'Use the global URL, which converts host names.',
  readline: 'Use context.files and split the text: there is no terminal.',
  sqlite: 'Use context.kv for data that stays.',
  test: 'Use the examples of the manifest: hotcell plugin test runs them.',
  tls: 'Use fetch: the sandbox has no sockets.',
  vm: 'Use the docker engine to run other code.',
  wasi: 'Drop the .wasm file as a plugin of the extism engine.',
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
  return readBuiltin(shapesName);
}

/** For a bundler, by name without `node:`, what reads the text of each built-in: shims, and stand-ins for the others. */
export const nodeBuiltins: ReadonlyMap<string, () => Promise<string>> = textsOf(nodeBuiltinShims.keys());
export const nodeStandIns: ReadonlyMap<string, () => Promise<string>> = textsOf(refusedBuiltins.keys());

function textsOf(names: Iterable<string>): ReadonlyMap<string, () => Promise<string>> {
  return new Map([...names].map((name) => [name, () => readBuiltin(name)]));
}

const texts = new Map<string, Promise<string>>();
const builtTexts = Compile(Type.Record(Type.String(), Type.String()));

/** Takes a text that the package build left, or bundles it, once. Shims that another needs stay imports. */
function readBuiltin(name: string): Promise<string> {
  const text = texts.get(name) ?? readBuilt(name) ?? bundleBuiltin(name);
  texts.set(name, text);
  return text;
}

function readBuilt(name: string): Promise<string> | undefined {
  if (!existsSync(builtFile)) return undefined;
  const built: unknown = JSON.parse(readFileSync(builtFile, 'utf8'));
  const text = builtTexts.Parse(built)[name];
  return text === undefined ? undefined : Promise.resolve(text);
}

/** Bundles all of them, for the package build. */
export async function bundleNodeBuiltins(): Promise<Record<string, string>> {
  const names = [...nodeBuiltinShims.keys(), ...refusedBuiltins.keys(), shapesName];
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await bundleBuiltin(name)] as const)));
}

async function bundleBuiltin(name: string): Promise<string> {
  if (name === shapesName) return bundle("export * from '../shapes/adapt.ts';", 'esm');
  const file = nodeBuiltinShims.get(name);
  if (file === undefined) return bundle(writeStandIn(name), 'cjs');
  return file.endsWith('.ts') ? bundle(await completeModule(name, file), 'esm') : bundle(completeCommonJs(name, file), 'cjs');
}

function bundle(contents: string, format: 'cjs' | 'esm'): Promise<string> {
  return bundleGuest({ ...bundling, stdin: { contents, resolveDir: fileURLToPath(shimDir), loader: 'ts' }, format });
}

/** What a shim needs of another stays an import, so that a plugin has each of them once. */
const bundling: BuildOptions = {
  mainFields: ['main'],
  external: ['node:*'],
  alias: {
    'abort-controller': fileURLToPath(new URL('abort-controller.cjs', shimDir)),
    buffer: 'node:buffer',
    events: 'node:events',
  },
  plugins: [
    {
      name: 'packages-named-like-builtins',
      setup({ onResolve }) {
        onResolve({ filter: /^[a-z_]+\/$/ }, ({ path }) => ({ path: `node:${path.slice(0, -1)}`, external: true }));
      },
    },
  ],
};

/** The shim with its default export, and for each function of the built-in that it does not have one that is refused by name. */
async function completeModule(name: string, file: string): Promise<string> {
  const own = new Set(await listExportedNames({ ...bundling, entryPoints: [file] }));
  const missing = describeBuiltin(name).functions.filter((member) => !own.has(member));
  const lacking = JSON.stringify({ name });
  return `import * as own from ${JSON.stringify(file)}; import { completeShim, refuseMember } from './refusals.ts';
export * from ${JSON.stringify(file)};
${missing.map((member) => `export const ${member} = /* @__PURE__ */ refuseMember(${lacking}, '${member}');`).join('\n')}
export default /* @__PURE__ */ completeShim({ ...own }, ${lacking}, ${JSON.stringify(missing)});`;
}

/** The same for a shim that is itself a function, or takes itself from globals; which members it has shows when it is loaded. */
function completeCommonJs(name: string, file: string): string {
  const shim = `require(${JSON.stringify(file)})`;
  if (name === 'process') return `module.exports = ${shim};`;
  const members = describeBuiltin(name).functions.filter((member) => !member.startsWith('_'));
  return `module.exports = require('./refusals.ts').completeShim(${shim}, ${JSON.stringify({ name })}, ${JSON.stringify(members)});`;
}

function writeStandIn(name: string): string {
  const shape = JSON.stringify({ ...describeBuiltin(name), instead: refusedBuiltins.get(name) });
  const own = `ownMembers[${JSON.stringify(findTopic(name))}]`;
  return `const { createStandIn, ownMembers } = require('./stand-in.ts');\nmodule.exports = createStandIn(${shape}, ${own});`;
}

/** What this Node has under a name: functions, constants, and objects of functions. */
function describeBuiltin(name: string): {
  name: string;
  functions: string[];
  values: Record<string, unknown>;
  parts: Record<string, string[]>;
} {
  const shape = { name, functions: [] as string[], values: {} as Record<string, unknown>, parts: {} as Record<string, string[]> };
  // Some of them are deprecated, which is not the daemon's to hear.
  const { noDeprecation } = process;
  process.noDeprecation = true;
  const builtin: unknown = name.startsWith('_') ? {} : createRequire(import.meta.url)(`node:${name}`);
  process.noDeprecation = noDeprecation ?? false;
  for (const [member, value] of Object.entries(Object(builtin))) {
    if (member === 'default' || value === undefined || value === null) continue;
    if (typeof value === 'function') shape.functions.push(member);
    else if (typeof value !== 'object') shape.values[member] = value;
    else if (member === 'promises') shape.parts[member] = Object.keys(value).filter((each) => each !== 'constants');
    else if (member === 'constants' || member === 'METHODS' || member === 'STATUS_CODES') shape.values[member] = value;
  }
  return shape;
}

/** `fs/promises` and `_http_agent` are explained like `fs` and `http`. */
function findTopic(name: string): string {
  return /^_?([a-z0-9]+(?:_(?:hooks|process|threads|decoder))?)/.exec(name)?.[1] ?? name;
}
