/** Randomness, drawn from the host for every call. */
import { extism } from './host-calls.ts';

/** The answers by operation, as in the daemon. */
export const randomAnswers: Readonly<Record<string, (payload: string) => string | ArrayBuffer>> = {
  'crypto.random': (payload) => extism.random(Number(payload)),
  'crypto.uuid': () => {
    const bytes = new Uint8Array(extism.random(16));
    bytes[6] = ((bytes[6] ?? 0) & 15) | 64;
    bytes[8] = ((bytes[8] ?? 0) & 63) | 128;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  },
};
