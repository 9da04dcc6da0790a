import { readFileSync } from 'node:fs';
import type {
  EmscriptenModuleLoader,
  JSValueConstPointer,
  QuickJSEmscriptenModule,
  QuickJSFFI,
  QuickJSSyncVariant,
} from '@jitl/quickjs-ffi-types';
import quickJsVariant from '@jitl/quickjs-wasmfile-release-sync';
import { openTable, placeTracker } from './rejection-tracker.ts';

/** Memory of a cell: initial = maximum, so it never grows and views never detach. Pages are resident only when touched. */
export const CELL_MEMORY_BYTES = 160 * 1024 * 1024;
const WASM_PAGE_BYTES = 65_536;
/** The C stack of this build of QuickJS: it lies between static data and heap, and holds nothing while a cell is at rest. */
const C_STACK_BYTES = 5 * 1024 * 1024;

/** Called when the guest calls its one import. `argv` points at the arguments; the result is an owned value or 0. */
export type HostCallback = (argumentCount: number, argv: JSValueConstPointer) => number;

/** Told of a promise that is rejected without a handler, and again when it gets one; values are the engine's own words. */
export type RejectionCallback = (promise: bigint, reason: bigint, isHandled: boolean) => void;

/** One WebAssembly instance of QuickJS with its memory, before or after an image was copied in. */
export interface Instance {
  readonly ffi: QuickJSFFI;
  /** The whole linear memory. */
  readonly memory: Buffer;
  readonly malloc: (bytes: number) => number;
  readonly free: (pointer: number) => void;
  /** The C stack pointer: a WebAssembly global, not part of memory, so no restore puts it back. */
  readonly stackPointer: () => number;
  /** First byte after static data, and first byte of the heap; between them lies the C stack. */
  readonly dataEnd: number;
  readonly heapStart: number;
  /** Where in the table of functions the tracker of rejections stands. */
  readonly trackerPlace: number;
  readonly callbacks: { host: HostCallback; interrupt: () => boolean; rejection: RejectionCallback };
}

/** QuickJS of the package, optimised for speed: `npm run build:wasm` makes it. */
export const quickJsFile = new URL('./quickjs.wasm', import.meta.url);

/** Reads and compiles QuickJS; the module is shared by all threads. */
export function compileQuickJs(): WebAssembly.Module {
  return new WebAssembly.Module(openTable(readFileSync(quickJsFile)));
}

// The package's types describe its CommonJS face, in which the variant lies one level deeper.
const variant = quickJsVariant as unknown as QuickJSSyncVariant;

/** Instances are made from parts that are loaded once per thread. */
export async function createInstanceMaker(module: WebAssembly.Module): Promise<() => Promise<Instance>> {
  const imported = await variant.importModuleLoader();
  const load: EmscriptenModuleLoader<QuickJSEmscriptenModule> =
    typeof imported === 'function' ? imported : unwrapDefault(imported);
  const Ffi = await variant.importFFI();
  return () => createInstance(module, load, Ffi);
}

function unwrapDefault<Value>(module: { default: Value | { default: Value } }): Value {
  const inner = module.default;
  return typeof inner === 'object' && inner !== null && 'default' in inner ? inner.default : (inner as Value);
}

async function createInstance(
  module: WebAssembly.Module,
  load: EmscriptenModuleLoader<QuickJSEmscriptenModule>,
  Ffi: new (module: QuickJSEmscriptenModule) => QuickJSFFI,
): Promise<Instance> {
  const pages = CELL_MEMORY_BYTES / WASM_PAGE_BYTES;
  const wasmMemory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  let instance: WebAssembly.Instance | undefined;
  const emscripten = await load({
    wasmMemory,
    instantiateWasm(imports, onSuccess) {
      instance = new WebAssembly.Instance(module, withoutEnvironment(imports, wasmMemory));
      onSuccess(instance);
      return instance.exports;
    },
  });
  const stackPointer = instance?.exports.Oa as (() => number) | undefined;
  if (!stackPointer) throw new Error('this build of QuickJS does not export its stack pointer');
  const callbacks: Instance['callbacks'] = { host: () => 0, interrupt: () => false, rejection: () => {} };
  emscripten.callbacks = {
    callFunction: (_asyncify, _context, _this, argumentCount, argv) => callbacks.host(argumentCount, argv) as never,
    shouldInterrupt: () => (callbacks.interrupt() ? 1 : 0),
    freeHostRef: () => {},
    loadModuleSource: () => 0 as never,
    normalizeModule: () => 0 as never,
  };
  const trackerPlace = placeTracker(instance?.exports ?? {}, (_context, promise, reason, isHandled) =>
    callbacks.rejection(promise, reason, isHandled !== 0),
  );
  const heapStart = stackPointer();
  return {
    ffi: new Ffi(emscripten),
    memory: Buffer.from(wasmMemory.buffer),
    malloc: (bytes) => emscripten._malloc(bytes),
    free: (pointer) => emscripten._free(pointer),
    stackPointer,
    dataEnd: heapStart - C_STACK_BYTES,
    heapStart,
    trackerPlace,
    callbacks,
  };
}

/**
 * C code would be handed variables made of the path of this program and of its language: they would lie in the memory of every
 * guest, and a base image would be another one wherever the program lies elsewhere. This build names the two functions so.
 */
function withoutEnvironment(imports: WebAssembly.Imports, { buffer }: WebAssembly.Memory): WebAssembly.Imports {
  const countNone = (countAddress: number, bytesAddress: number): number => {
    for (const address of [countAddress, bytesAddress]) Buffer.from(buffer).writeUInt32LE(0, address);
    return 0;
  };
  return { ...imports, a: { ...imports.a, e: () => 0, f: countNone } };
}
