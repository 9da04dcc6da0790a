/** node:buffer over the global Buffer. */
import type { Buffer as BufferClass } from './buffer-class.ts';

/** The global class, so that there is only one in a plugin, however it comes by it. */
export const Buffer: typeof BufferClass = Reflect.get(globalThis, 'Buffer');
export const kMaxLength = 0x7fffffff;
export const kStringMaxLength = 0x3fffffff;
export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength };
export const INSPECT_MAX_BYTES = 50;

const globals: Readonly<Record<'atob' | 'btoa', (text: string) => string>> = Object(globalThis);
export const { atob, btoa } = globals;

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 0x80);
}
