import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import binaryen from 'binaryen';
import createWabt from 'wabt';
import { runBinaryen } from './binaryen.ts';

// Builds src/guests/portable/runtime.wasm, which is checked in: QuickJS joined with the adapter to Extism, the module that
// `hotcell build` freezes plugins into. It depends on two pinned packages and the adapter's text alone.
const folder = fileURLToPath(new URL('../src/guests/portable/', import.meta.url));
const require = createRequire(import.meta.url);

/** `describe`, `call` and as many tools as a manifest may hold. */
const entryCount = 2 + 65;
const { BulkMemory, BulkMemoryOpt, MutableGlobals, SignExt, NontrappingFPToInt, Multivalue, ReferenceTypes } = binaryen.Features;
const binaryenFeatures = BulkMemory | BulkMemoryOpt | MutableGlobals | SignExt | NontrappingFPToInt | Multivalue | ReferenceTypes;

/** Builds the runtime into a file. Throws what the tools say. */
export async function buildTemplate(target: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'hotcell-template-'));
  const at = (name: string) => join(work, name);
  try {
    await writeFile(at('quickjs.wasm'), await openQuickJs());
    await writeFile(at('adapter.wasm'), await assembleAdapter());
    runBinaryen('wasm-merge', [at('quickjs.wasm'), 'qjs', at('adapter.wasm'), 'env', '-o', at('merged.wasm')]);
    await writeFile(at('opened.wasm'), await keepExports(at('merged.wasm')));
    runBinaryen('wasm-opt', [
      '-Oz',
      '--remove-unused-module-elements',
      '--strip-debug',
      '--strip-producers',
      at('opened.wasm'),
      '-o',
      target,
    ]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** QuickJS with its memory asked of the adapter, which gives pages out again that an earlier call added. */
async function openQuickJs(): Promise<Uint8Array> {
  const module = binaryen.readBinary(await readFile(require.resolve('quickjs-wasi/quickjs.wasm')));
  const text = module.emitText();
  module.dispose();
  const open = text
    .replaceAll('(memory.grow', '(call $adapter_memory_grow')
    .replaceAll('(memory.size)', '(call $adapter_memory_pages)')
    .replace(
      '(import "env" "host_call"',
      '(import "env" "memory_pages" (func $adapter_memory_pages (result i32)))\n' +
        ' (import "env" "memory_grow" (func $adapter_memory_grow (param i32) (result i32)))\n (import "env" "host_call"',
    );
  if (!open.includes('(memory $') || /\(memory\.(?:grow|size)/.test(open)) throw new Error('QuickJS is not built as expected.');
  const opened = binaryen.parseText(open);
  opened.setFeatures(binaryenFeatures);
  try {
    return opened.emitBinary();
  } finally {
    opened.dispose();
  }
}

async function assembleAdapter(): Promise<Uint8Array> {
  const [adapter, blocks] = await Promise.all(['adapter.wat', 'blocks.wat'].map((name) => readFile(join(folder, name), 'utf8')));
  const entries = Array.from(
    { length: entryCount },
    (_, index) => `(func (export "entry.${index}") (result i32) (call $run (i32.const ${index})))`,
  );
  const text = `${adapter}`.replace(';; REST', `${blocks}\n${entries.join('\n')}`);
  const wabt = await createWabt();
  const module = wabt.parseWat('adapter.wat', text, { bulk_memory: true, mutable_globals: true, sat_float_to_int: true });
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

/** Only what a build needs stays exported, so that the rest can be dropped. */
async function keepExports(file: string): Promise<Uint8Array> {
  const module = binaryen.readBinary(await readFile(file));
  module.setFeatures(binaryenFeatures);
  const kept = new Set([
    'memory',
    '_initialize',
    'wasm_malloc',
    'wasm_free',
    'qjs_free_value',
    'qjs_init',
    'qjs_eval',
    'qjs_get_global',
    'qjs_get_prop_string',
    'qjs_set_prop_string',
    'qjs_get_string_len',
    'qjs_is_exception',
    'qjs_get_exception',
    'qjs_new_host_function',
    'qjs_is_job_pending',
    'qjs_execute_pending_job',
    'qjs_run_gc',
    'qjs_set_max_stack_size',
  ]);
  for (let index = module.getNumExports() - 1; index >= 0; index--) {
    const { name } = binaryen.getExportInfo(module.getExportByIndex(index));
    if (!kept.has(name) && !/^(?:entry|state)\./.test(name)) module.removeExport(name);
  }
  try {
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

if (import.meta.main) await buildTemplate(join(folder, 'runtime.wasm'));
