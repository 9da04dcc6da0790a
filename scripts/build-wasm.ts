import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import createWabt from 'wabt';
import { buildQuickJs } from './build-quickjs.ts';
import { buildTemplate } from './build-template.ts';

// Builds every source of wasm/extism into a plugin in wasm, the engine of sandboxes, and the runtime of built plugins. What they become is checked in: a
// clean clone runs without this step.
const sourceFolder = fileURLToPath(new URL('../wasm/extism/', import.meta.url));
const pluginFolder = fileURLToPath(new URL('../wasm/', import.meta.url));
const assemblyScript = 'assemblyscript@0.28.20';
const clangFlags = ['--target=wasm32', '-Os', '-nostdlib', '-Wall', '-Wextra', '-Wl,--no-entry', '-Wl,--strip-all'];

/** How a source of each kind becomes a module. */
const builders: Readonly<Record<string, (source: string, target: string) => Promise<void> | void>> = {
  '.wat': async (source, target) => writeFile(target, await assembleText(source)),
  '.c': (source, target) => {
    // clang passes its output through any wasm-opt that it finds; which one lies in node_modules must not matter.
    const PATH = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
    const env = { ...process.env, PATH: PATH.join(':') };
    execFileSync('clang', [...clangFlags, '-Wl,-z,stack-size=16384', '-o', target, source], { stdio: 'inherit', env });
  },
  '.as.ts': (source, target) => {
    const flags = ['--runtime', 'minimal', '-O3z', '--noAssert', '--use', 'abort=', '-o', target];
    execFileSync('npm', ['exec', '--yes', `--package=${assemblyScript}`, '--', 'asc', source, ...flags], { stdio: 'inherit' });
  },
};

/** The sources with the modules that they become. */
export function listSources(): { source: string; kind: string; target: string }[] {
  return readdirSync(sourceFolder).flatMap((name) => {
    const kind = Object.keys(builders).find((extension) => name.endsWith(extension));
    return kind === undefined ? [] : [{ source: sourceFolder + name, kind, target: `${name.slice(0, -kind.length)}.wasm` }];
  });
}

/** Builds one source into a file. Throws what its compiler says. */
export async function buildModule({ source, kind }: { source: string; kind: string }, target: string): Promise<void> {
  await builders[kind]?.(source, target);
  chmodSync(target, 0o644);
}

async function assembleText(source: string): Promise<Uint8Array> {
  const wabt = await createWabt();
  const module = wabt.parseWat(source, await readFile(source, 'utf8'), { bulk_memory: true });
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

if (import.meta.main) {
  for (const each of listSources()) {
    await buildModule(each, pluginFolder + each.target);
    console.log(each.target);
  }
  await buildQuickJs(fileURLToPath(new URL('../src/engines/quickjs/cell/quickjs.wasm', import.meta.url)));
  console.log('cell/quickjs.wasm');
  await buildTemplate(fileURLToPath(new URL('../src/guests/portable/runtime.wasm', import.meta.url)));
  console.log('template/runtime.wasm');
}
