import {
  EvalFlags,
  type JSContextPointer,
  type JSRuntimePointer,
  type JSValueConstPointer,
  type JSValuePointer,
} from '@jitl/quickjs-ffi-types';
import { defaultLimits } from '../../../config/limits.ts';
import { HostRefusal } from '../host-answers/host-refusal.ts';
import type { BaseImage, EntryPointers } from './base-image.ts';
import {
  applyDelta,
  copyReference,
  encodeDelta,
  type Reference,
  restoreReference,
  storeDelta,
  takeStoredDelta,
} from './delta.ts';
import { newGuestBuffer, newGuestString, readGuestBuffer, readGuestString, writeText } from './guest-values.ts';
import type { Instance } from './instance.ts';

/** A memory that ever grew by more than this over its image is given back to the system: the instance is replaced. */
const maxGrowthBytes = 4 * 1024 * 1024;
/** How often the guest's jobs are run between two looks at the clock. */
const JOBS_PER_TURN = 1000;
/** No operation has a longer name, and what a guest throws past its handlers is cut here. */
const maxOperationBytes = 256;
const maxThrownBytes = 8000;

/**
 * What the guest asks through its one import. Returns the answer; throwing HostRefusal throws in the guest. The payload is
 * copied out of the guest when it is read, as far as the reader wants it.
 */
export type HostImport = (
  op: string,
  id: number,
  readPayload: (maxBytes?: number) => string,
  readBody: () => Uint8Array | undefined,
) => string | Uint8Array | undefined;

/** What an evaluation or call in the guest threw past its own handlers. */
export interface ThrownInGuest {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

type Argument = string | number | boolean | Uint8Array | undefined;

/** A sandbox: one instance whose memory is put back to an image before each use. Not re-entrant. */
export class Cell {
  readonly #instance: Instance;
  readonly #base: BaseImage;
  readonly #runtime: JSRuntimePointer;
  readonly #context: JSContextPointer;
  #highWater: number;
  #imageTop: number;
  /** The highest that the heap ever was, under any image: so far the system has pages for it. */
  #peak: number;
  /** A host exception passed through the guest, or the allocator was exhausted: never use the instance again. */
  broken = false;

  constructor(instance: Instance, base: BaseImage, handlers: { host: HostImport; interrupt: () => boolean }) {
    this.#instance = instance;
    this.#base = base;
    this.#runtime = base.header.runtime as JSRuntimePointer;
    this.#context = base.header.context as JSContextPointer;
    this.#highWater = instance.memory.length;
    this.#imageTop = base.reference.top;
    instance.callbacks.interrupt = handlers.interrupt;
    instance.callbacks.rejection = (promise, reason, isHandled) => this.#trackRejection(promise, reason, isHandled);
    instance.callbacks.host = (count, argv) => this.#answerHost(handlers.host, count, argv);
    this.#highWater = base.reference.top;
    this.#peak = base.reference.top;
  }

  /** Makes the memory equal to an image: a brand-new sandbox. */
  restore(image: Reference): void {
    this.#noteTop();
    restoreReference(this.#instance.memory, this.#instance, image, this.#highWater);
    this.#highWater = image.top;
    this.#imageTop = image.top;
  }

  /** Puts back what a parked call had written over its image; call `restore` with that image first. */
  applyDelta(delta: Uint8Array): void {
    this.#highWater = Math.max(this.#highWater, applyDelta(this.#instance.memory, delta));
  }

  /** The same from a file, which is deleted. */
  takeStoredDelta(path: string): void {
    this.#highWater = Math.max(this.#highWater, takeStoredDelta(this.#instance.memory, path));
  }

  /** Puts what was written over an image into a new file; returns its size. */
  storeDelta(image: Reference, path: string): number {
    return storeDelta(this.#instance.memory, this.#instance, image, this.#readTop(), path);
  }

  /** What was written over an image, as `applyDelta` takes it. */
  encodeDelta(image: Reference): Uint8Array {
    return encodeDelta(this.#instance.memory, this.#instance, image, this.#readTop());
  }

  /** Freezes the memory as it is. */
  freeze(): Reference {
    return copyReference(this.#instance.memory, this.#instance, this.#readTop());
  }

  /** The heap as the guest sees it: what it ever had at once since the restore. */
  heapBytes(): number {
    return this.#readTop() - this.#instance.heapStart;
  }

  setLimits(limits: { memoryBytes: number; stackBytes: number }): void {
    if (limits.memoryBytes !== defaultLimits.memoryBytes)
      this.#instance.ffi.QTS_RuntimeSetMemoryLimit(this.#runtime, limits.memoryBytes);
    if (limits.stackBytes !== defaultLimits.stackBytes)
      this.#instance.ffi.QTS_RuntimeSetMaxStackSize(this.#runtime, limits.stackBytes);
  }

  /** How much the memory in it grew over its image since the restore. */
  grownBytes(): number {
    return Math.max(0, this.#readTop() - this.#imageTop);
  }

  /** Looks at what no restore puts back: a stack that did not come back to its beginning makes the instance useless. */
  checkStack(): void {
    if (this.#instance.stackPointer() !== this.#base.header.stackPointer) this.broken = true;
  }

  /** True when the instance is worth no further use: the memory of whoever lies in it can still be moved out, unless it is broken. */
  isWornOut(): boolean {
    return this.broken || Math.max(this.#peak, this.#readTop()) - this.#imageTop > maxGrowthBytes;
  }

  /** Evaluates a script. */
  evaluate(code: string, fileName: string): ThrownInGuest | undefined {
    return this.#guard(() => {
      const source = writeText(this.#instance, code);
      const flags = EvalFlags.JS_EVAL_TYPE_GLOBAL as never;
      const result = this.#instance.ffi.QTS_Eval(
        this.#context,
        source.address as never,
        source.bytes,
        fileName,
        0 as never,
        flags,
      );
      this.#instance.free(source.address);
      return this.#takeException(result);
    });
  }

  /** Calls a function of the prelude. */
  call(entry: keyof EntryPointers, ...args: readonly Argument[]): ThrownInGuest | undefined {
    return this.#guard(() => {
      const { ffi, memory } = this.#instance;
      const { header } = this.#base;
      const values = args.map((arg) => this.#toGuest(arg));
      values.forEach((value, index) => {
        memory.writeUInt32LE(value, header.argv + index * 4);
      });
      const func = header.entries[entry] as JSValuePointer;
      const nothing = header.undefinedValue as JSValueConstPointer;
      const result = ffi.QTS_Call(this.#context, func, nothing, values.length, header.argv as never);
      for (const value of values)
        if (value !== header.undefinedValue) ffi.QTS_FreeValuePointer(this.#context, value as JSValuePointer);
      return this.#takeException(result);
    });
  }

  /** Runs waiting jobs until there are none or `shouldStop` says so. */
  runJobs(shouldStop: () => boolean): ThrownInGuest | undefined {
    const { ffi } = this.#instance;
    while (ffi.QTS_IsJobPending(this.#runtime) && !shouldStop()) {
      const thrown = this.#guard(() => {
        const result = ffi.QTS_ExecutePendingJob(this.#runtime, JOBS_PER_TURN, this.#base.header.jobContext as never);
        // A number is the count of jobs; anything else is what a job threw past every handler.
        if (this.#isNumber(result)) {
          ffi.QTS_FreeValuePointer(this.#context, result);
          return undefined;
        }
        return this.#describe(result);
      });
      if (thrown) return thrown;
    }
    return undefined;
  }

  /** Hands a rejection to the prelude, which runs nothing of the plugin. Called from inside the guest. */
  #trackRejection(promise: bigint, reason: bigint, isHandled: boolean): void {
    try {
      const { ffi, memory } = this.#instance;
      const { rejection, entries, undefinedValue } = this.#base.header;
      memory.writeBigUInt64LE(BigInt.asUintN(64, promise), rejection);
      memory.writeBigUInt64LE(BigInt.asUintN(64, reason), rejection + 8);
      const args = [rejection, rejection + 8, isHandled ? rejection : undefinedValue];
      args.forEach((value, index) => void memory.writeUInt32LE(value, rejection + 16 + index * 4));
      const nothing = undefinedValue as JSValueConstPointer;
      const result = ffi.QTS_Call(this.#context, entries.trackRejection as JSValuePointer, nothing, 3, (rejection + 16) as never);
      const error = ffi.QTS_ResolveException(this.#context, result);
      ffi.QTS_FreeValuePointer(this.#context, result);
      if ((error as number) !== 0) ffi.QTS_FreeValuePointer(this.#context, error);
    } catch {
      this.broken = true;
    }
  }

  #toGuest(arg: Argument): number {
    const { ffi } = this.#instance;
    if (arg === undefined) return this.#base.header.undefinedValue;
    if (typeof arg === 'string') return newGuestString(this.#instance, this.#context, arg) as number;
    if (typeof arg === 'number') return ffi.QTS_NewFloat64(this.#context, arg) as number;
    // Booleans are constants of the engine; as numbers they mean the same to the prelude.
    if (typeof arg === 'boolean') return ffi.QTS_NewFloat64(this.#context, arg ? 1 : 0) as number;
    return newGuestBuffer(this.#instance, this.#context, arg) as number;
  }

  #answerHost(host: HostImport, count: number, argv: JSValueConstPointer): number {
    try {
      const { ffi } = this.#instance;
      const at = (index: number) => ffi.QTS_ArgvGetJSValueConstPointer(argv, index);
      const op = readGuestString(this.#instance, this.#context, at(0), maxOperationBytes);
      const id = ffi.QTS_GetFloat64(this.#context, at(1));
      const readPayload = (maxBytes?: number) => readGuestString(this.#instance, this.#context, at(2), maxBytes);
      const readBody = () => (count > 3 ? readGuestBuffer(this.#instance, this.#context, at(3)) : undefined);
      const answer = host(op, id, readPayload, readBody);
      if (answer === undefined) return 0;
      return typeof answer === 'string'
        ? (newGuestString(this.#instance, this.#context, answer) as number)
        : (newGuestBuffer(this.#instance, this.#context, answer) as number);
    } catch (error) {
      const refusal = error instanceof HostRefusal ? error : undefined;
      // An exception of the host itself must not pass through WebAssembly: it would leak C stack that no restore puts back.
      if (!refusal) this.broken = true;
      return this.#throwInGuest(refusal ?? { code: 'engine-failed', message: 'The host could not answer.' });
    }
  }

  #throwInGuest(refusal: { readonly code: string; readonly message: string }): number {
    try {
      const { ffi } = this.#instance;
      const error = ffi.QTS_NewError(this.#context);
      for (const [name, text] of Object.entries({ message: refusal.message, code: refusal.code })) {
        const key = newGuestString(this.#instance, this.#context, name);
        const value = newGuestString(this.#instance, this.#context, text);
        ffi.QTS_SetProp(this.#context, error, key, value);
        ffi.QTS_FreeValuePointer(this.#context, key);
        ffi.QTS_FreeValuePointer(this.#context, value);
      }
      const thrown = ffi.QTS_Throw(this.#context, error) as number;
      ffi.QTS_FreeValuePointer(this.#context, error);
      return thrown;
    } catch {
      this.broken = true;
      return 0;
    }
  }

  /** Runs something in the guest; an exception of the host itself marks the instance as broken. */
  #guard(action: () => ThrownInGuest | undefined): ThrownInGuest | undefined {
    try {
      return action();
    } catch (error) {
      this.broken = true;
      const message = error instanceof Error ? error.message : String(error);
      return { name: 'SandboxError', message, stack: '' };
    }
  }

  #takeException(result: JSValuePointer): ThrownInGuest | undefined {
    const { ffi } = this.#instance;
    const error = ffi.QTS_ResolveException(this.#context, result);
    ffi.QTS_FreeValuePointer(this.#context, result);
    return (error as number) === 0 ? undefined : this.#describe(error);
  }

  #describe(error: JSValuePointer): ThrownInGuest {
    const { ffi } = this.#instance;
    const read = (name: string): string => {
      const key = newGuestString(this.#instance, this.#context, name);
      const value = ffi.QTS_GetProp(this.#context, error, key);
      const text = readGuestString(this.#instance, this.#context, value, maxThrownBytes);
      ffi.QTS_FreeValuePointer(this.#context, key);
      ffi.QTS_FreeValuePointer(this.#context, value);
      return text;
    };
    const thrown = { name: read('name'), message: read('message'), stack: read('stack') };
    // Nothing can be read of null, so all of it is empty.
    const isError = thrown.name !== 'undefined' && (thrown.name !== '' || thrown.message !== '');
    const text = isError ? '' : readGuestString(this.#instance, this.#context, error, maxThrownBytes);
    // What is no Error may say something all the same, such as { code: 42 }.
    const code = text === '[object Object]' ? read('code') : 'undefined';
    const said = text === '[object Object]' && thrown.message !== 'undefined' ? thrown.message : text;
    ffi.QTS_FreeValuePointer(this.#context, error);
    if (isError) return thrown;
    const message = said === '[object Object]' ? 'An object that is no Error was thrown' : said;
    return { name: '', message: code === 'undefined' ? message : `${message} (code ${code})`, stack: '' };
  }

  #isNumber(value: JSValuePointer): boolean {
    const { ffi, memory } = this.#instance;
    const pointer = ffi.QTS_Typeof(this.#context, value) as number;
    const text = memory.toString('latin1', pointer, memory.indexOf(0, pointer));
    // Made by the C library, so freed by it: the engine's own `free` would count one allocation less than there are.
    this.#instance.free(pointer);
    return text === 'number';
  }

  /** The word lies in the guest's memory: a guest that broke its engine could write anything there. */
  #readTop(): number {
    const { memory, heapStart } = this.#instance;
    return Math.min(Math.max(memory.readUInt32LE(this.#base.header.breakWord), heapStart), memory.length);
  }

  #noteTop(): void {
    this.#highWater = Math.max(this.#highWater, this.#readTop());
    this.#peak = Math.max(this.#peak, this.#highWater);
  }
}
