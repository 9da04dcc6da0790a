/** `crypto`: random bytes and hashes, both the host's. */
import { askNow } from '../border.ts';
import { toBytes } from './bytes.ts';
import { loadModule } from './define.ts';
import { DOMException } from './dom-exception.ts';

const MAX_RANDOM_BYTES = 65_536;
const digestNames = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];

async function digest(algorithm: string | { name: string }, data: unknown): Promise<ArrayBuffer> {
  const name = String(typeof algorithm === 'object' ? algorithm.name : algorithm).toUpperCase();
  if (!digestNames.includes(name))
    throw unsupported(`The digest "${name}" is not available; there are ${digestNames.join(', ')}`);
  const bytes = toBytes(data);
  if (!bytes) throw new TypeError('crypto.subtle.digest expects an ArrayBuffer or a view of one');
  return askNow('crypto.digest', name, bytes.buffer) as ArrayBuffer;
}

function getRandomValues<T>(view: T): T {
  if (!ArrayBuffer.isView(view) || /Float|DataView/.test(Object.prototype.toString.call(view))) {
    throw new DOMException('crypto.getRandomValues expects a typed array of integers', 'TypeMismatchError');
  }
  if (view.byteLength > MAX_RANDOM_BYTES) {
    throw new DOMException(
      `crypto.getRandomValues gives ${MAX_RANDOM_BYTES} bytes at most, asked for ${view.byteLength}`,
      'QuotaExceededError',
    );
  }
  const random = new Uint8Array(askNow('crypto.random', String(view.byteLength)) as ArrayBuffer);
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(random);
  return view;
}

/** A random version 4 UUID. */
export function randomUUID(): string {
  return String(askNow('crypto.uuid', ''));
}

function unsupported(message: string): DOMException {
  return new DOMException(message, 'NotSupportedError');
}

let subtle: object | undefined;

/** The global `crypto`; what `subtle` can do beyond hashes is made when it is first read. */
export const crypto = {
  getRandomValues,
  randomUUID,
  get subtle(): object {
    subtle ??= Object.assign({ digest }, loadModule('subtle').subtle);
    return subtle;
  },
};
