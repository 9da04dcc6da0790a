import { EvalFlags, type IntrinsicsFlags, type JSContextPointer, type JSValuePointer } from '@jitl/quickjs-ffi-types';
import { defaultLimits } from '../../../config/limits.ts';
import { copyReference, type Reference } from './delta.ts';
import { newGuestString, readGuestString, writeText } from './guest-values.ts';
import type { Instance } from './instance.ts';
import { findTrackerField } from './rejection-tracker.ts';

/** Functions of the prelude that the host calls, as pointers into the image. */
export interface EntryPointers {
  readonly load: number;
  readonly enter: number;
  readonly settle: number;
  readonly runHook: number;
  readonly endCall: number;
  readonly trackRejection: number;
}

/** What restoring needs to know besides the bytes; all numbers are addresses in guest memory. */
export interface BaseHeader {
  readonly runtime: number;
  readonly context: number;
  readonly entries: EntryPointers;
  /** Room for the arguments of a guest call: four pointers. */
  readonly argv: number;
  /** Room for a promise and the reason of its rejection, and for three pointers. */
  readonly rejection: number;
  /** Where executing a job reports its context. */
  readonly jobContext: number;
  /** The word that holds the allocator's break, which is the top of the heap. */
  readonly breakWord: number;
  readonly undefinedValue: number;
  readonly stackPointer: number;
}

/** The frozen memory of an empty sandbox: prelude evaluated, no plugin. All images are differences to it. */
export interface BaseImage {
  readonly header: BaseHeader;
  readonly reference: Reference;
}

const HOST_REFERENCE = 1;
const PROBE_BYTES = 3 * 1024 * 1024;
const ARGV_BYTES = 64;
const REJECTION_BYTES = 32;

/** Builds the base image in new instances, which are used up. */
export async function buildBaseImage(makeInstance: () => Promise<Instance>, preludeCode: string): Promise<BaseImage> {
  const breakWord = findBreakWord(await makeInstance());
  const instance = await makeInstance();
  const { ffi } = instance;
  const runtime = ffi.QTS_NewRuntime();
  ffi.QTS_RuntimeSetMemoryLimit(runtime, defaultLimits.memoryBytes);
  ffi.QTS_RuntimeSetMaxStackSize(runtime, defaultLimits.stackBytes);
  const trackerField = findTrackerField(instance.memory, runtime as number, () => ffi.QTS_RuntimeEnableInterruptHandler(runtime));
  instance.memory.writeUInt32LE(instance.trackerPlace, trackerField);
  const context = atTheEpoch(() => ffi.QTS_NewContext(runtime, intrinsics()));
  defineHostImport(instance, context);
  evaluate(instance, context, preludeCode, 'prelude.js');
  checkTracker(instance, context);
  const entries = takeEntries(instance, context);
  const argv = allocateZeroed(instance, ARGV_BYTES);
  const jobContext = allocateZeroed(instance, 8);
  const rejection = allocateZeroed(instance, REJECTION_BYTES);
  plugHoles(instance, breakWord);
  const top = instance.memory.readUInt32LE(breakWord);
  if (instance.memory.subarray(0, top).includes('HOME='))
    throw new Error('this build of QuickJS takes its environment elsewhere');
  return {
    header: {
      runtime: runtime as number,
      context: context as number,
      entries,
      argv,
      rejection,
      jobContext,
      breakWord,
      undefinedValue: ffi.QTS_GetUndefined() as number,
      stackPointer: instance.stackPointer(),
    },
    reference: copyReference(instance.memory, instance, top),
  };
}

/** Counts the 4 KiB pages of an image that hold anything. */
export function countPages(reference: Reference): number {
  let pages = 0;
  for (let at = 0; at < reference.bytes.length; at += 4096) {
    if (reference.bytes.subarray(at, at + 4096).some((byte) => byte !== 0)) pages++;
  }
  return pages;
}

/**
 * A new context takes the seed of its own generator from the clock. With that stopped, base images are the same byte for
 * byte, so that a call which was suspended over one goes on over another.
 */
function atTheEpoch<Value>(make: () => Value): Value {
  const readClock = Date.now;
  Date.now = () => 0;
  try {
    return make();
  } finally {
    Date.now = readClock;
  }
}

/** Everything but `eval` of host-made bytecode: the default set of the engine. */
function intrinsics(): IntrinsicsFlags {
  return 0 as IntrinsicsFlags;
}

function defineHostImport(instance: Instance, context: JSContextPointer): void {
  const { ffi } = instance;
  const host = ffi.QTS_NewFunction(context, 'host', 4, false, HOST_REFERENCE as never);
  const global = ffi.QTS_GetGlobalObject(context);
  const key = newGuestString(instance, context, 'host');
  ffi.QTS_SetProp(context, global, key, host);
  for (const value of [key, host, global]) ffi.QTS_FreeValuePointer(context, value);
}

function evaluate(instance: Instance, context: JSContextPointer, code: string, fileName: string): void {
  const { ffi } = instance;
  const source = writeText(instance, code);
  const result = ffi.QTS_Eval(
    context,
    source.address as never,
    source.bytes,
    fileName,
    0 as never,
    EvalFlags.JS_EVAL_TYPE_GLOBAL as never,
  );
  instance.free(source.address);
  const error = ffi.QTS_ResolveException(context, result);
  if (error as number) throw new Error(`the prelude does not load: ${readGuestString(instance, context, error)}`);
  ffi.QTS_FreeValuePointer(context, result);
}

/** The field of the tracker was found by its neighbour: that it is the right one is seen by its being told. */
function checkTracker(instance: Instance, context: JSContextPointer): void {
  let told = 0;
  instance.callbacks.rejection = () => told++;
  evaluate(instance, context, 'void Promise.reject().catch(() => {});', 'prelude.js');
  instance.callbacks.rejection = () => {};
  if (told !== 2) throw new Error('this build of QuickJS does not tell of rejected promises');
}

function takeEntries(instance: Instance, context: JSContextPointer): EntryPointers {
  const { ffi } = instance;
  const global = ffi.QTS_GetGlobalObject(context);
  const holder = getProperty(instance, context, global, '__hotcellEntry');
  const take = (name: string): number => getProperty(instance, context, holder, name) as number;
  const entries = {
    load: take('load'),
    enter: take('enter'),
    settle: take('settle'),
    runHook: take('runHook'),
    endCall: take('endCall'),
    trackRejection: take('trackRejection'),
  };
  ffi.QTS_FreeValuePointer(context, holder);
  evaluate(instance, context, 'delete globalThis.__hotcellEntry', 'prelude.js');
  ffi.QTS_FreeValuePointer(context, global);
  return entries;
}

function getProperty(instance: Instance, context: JSContextPointer, owner: JSValuePointer, name: string): JSValuePointer {
  const key = newGuestString(instance, context, name);
  const value = instance.ffi.QTS_GetProp(context, owner, key);
  instance.ffi.QTS_FreeValuePointer(context, key);
  return value;
}

function allocateZeroed(instance: Instance, bytes: number): number {
  const address = instance.malloc(bytes);
  instance.memory.fill(0, address, address + bytes);
  return address;
}

/**
 * The allocator keeps its break in one word: of all words that follow two large allocations upwards it is the one with
 * the highest value, for the break is the end of everything allocated. Uses the instance up.
 */
function findBreakWord(instance: Instance): number {
  const words = () => new Uint32Array(instance.memory.buffer.slice(0, instance.dataEnd & ~3));
  const before = words();
  instance.malloc(PROBE_BYTES);
  const between = words();
  const second = instance.malloc(PROBE_BYTES);
  const after = words();
  let found: { address: number; value: number } | undefined;
  for (let index = 0; index < before.length; index++) {
    const [low, middle, high] = [before[index] ?? 0, between[index] ?? 0, after[index] ?? 0];
    const follows =
      low >= instance.heapStart &&
      middle > low &&
      high > middle &&
      high >= second + PROBE_BYTES &&
      high <= instance.memory.length;
    if (follows && high > (found?.value ?? 0)) found = { address: index * 4, value: high };
  }
  if (!found) throw new Error('the break of the allocator was not found');
  return found.address;
}

/** Fills the allocator's holes with blocks that stay, so that what a call allocates lies together: fewer pages get dirty. */
function plugHoles(instance: Instance, breakWord: number): void {
  const readBreak = () => instance.memory.readUInt32LE(breakWord);
  for (let bytes = 16_384; bytes >= 16; bytes = bytes > 256 ? Math.floor(bytes / 1.25) & ~7 : bytes - 8) {
    for (;;) {
      const before = readBreak();
      const block = instance.malloc(bytes);
      if (readBreak() !== before) {
        instance.free(block);
        break;
      }
      instance.memory.fill(0, block, block + bytes);
    }
  }
}
