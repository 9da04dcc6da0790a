import type { JSContextPointer, JSValueConstPointer, JSValuePointer } from '@jitl/quickjs-ffi-types';
import type { Instance } from './instance.ts';

/** Copies a string into the guest. The text must not hold NUL: it crosses as a C string. */
export function newGuestString(instance: Instance, context: JSContextPointer, text: string): JSValuePointer {
  const pointer = writeText(instance, text);
  const value = instance.ffi.QTS_NewString(context, pointer.address as never);
  instance.free(pointer.address);
  return value;
}

/** Copies text into the guest's heap as a C string; the caller frees `address`. */
export function writeText(instance: Instance, text: string): { address: number; bytes: number } {
  const bytes = Buffer.byteLength(text);
  const address = instance.malloc(bytes + 1);
  if (address === 0) throw new GuestMemoryError();
  instance.memory.write(text, address, bytes, 'utf8');
  instance.memory[address + bytes] = 0;
  return { address, bytes };
}

/** Copies bytes into a new ArrayBuffer of the guest. */
export function newGuestBuffer(instance: Instance, context: JSContextPointer, bytes: Uint8Array): JSValuePointer {
  const address = instance.malloc(bytes.length || 1);
  if (address === 0) throw new GuestMemoryError();
  instance.memory.set(bytes, address);
  return instance.ffi.QTS_NewArrayBuffer(context, address as never, bytes.length);
}

/** Reads a string value out of the guest, at most `maxBytes` of it: what comes from there is as long as it likes. */
export function readGuestString(
  instance: Instance,
  context: JSContextPointer,
  value: JSValuePointer | JSValueConstPointer,
  maxBytes = Number.POSITIVE_INFINITY,
): string {
  const pointer = instance.ffi.QTS_GetString(context, value);
  if ((pointer as number) === 0) return '';
  const end = instance.memory.indexOf(0, pointer);
  const text = instance.memory.toString('utf8', pointer, Math.min(end, pointer + maxBytes));
  instance.ffi.QTS_FreeCString(context, pointer);
  return text;
}

/** Copies an ArrayBuffer out of the guest; undefined when the value is none. */
export function readGuestBuffer(
  instance: Instance,
  context: JSContextPointer,
  value: JSValuePointer | JSValueConstPointer,
): Uint8Array | undefined {
  const address = instance.ffi.QTS_GetArrayBuffer(context, value) as number;
  if (address === 0) return undefined;
  const length = instance.ffi.QTS_GetArrayBufferLength(context, value);
  const bytes = new Uint8Array(instance.memory.subarray(address, address + length));
  // The engine hands out a copy that it does not count.
  instance.free(address);
  return bytes;
}

/** The guest's heap could not hold what the host wanted to hand in. */
export class GuestMemoryError extends Error {
  constructor() {
    super('the guest has no memory left');
    this.name = 'GuestMemoryError';
  }
}
