/** `crypto`: random values are the host's; what else it can do is read when it is first used. */
import { askNow } from '../border.ts';
import { loadModule } from './define.ts';
import { DOMException } from './dom-exception.ts';

const MAX_RANDOM_BYTES = 65_536;

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

/** The global `crypto`. */
export const crypto = {
  getRandomValues,
  randomUUID,
  get subtle(): object {
    return loadModule('subtle').subtle;
  },
};
