import { createHmac } from 'node:crypto';

const pattern = /hotcell-secret-[0-9a-f]{40}/g;
const marker = 'hotcell-secret-';

/**
 * The placeholder of a secret in one execution. It is a keyed hash, so nothing has to be remembered: it is the same after
 * a restart, when a parked call goes on, and nobody without the key can make one.
 */
export function makePlaceholder(key: Uint8Array, executionId: string, name: string): string {
  const hash = createHmac('sha256', key)
    .update(JSON.stringify([executionId, name]))
    .digest('hex');
  return `${marker}${hash.slice(0, 40)}`;
}

/** Everything in a text that looks like a placeholder, each once. */
export function listPlaceholders(text: string): readonly string[] {
  return text.includes(marker) ? [...new Set(text.match(pattern))] : [];
}

/** Everything in bytes that looks like a placeholder, each once. */
export function listPlaceholdersInBytes(bytes: Uint8Array): readonly string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.includes(marker) ? listPlaceholders(buffer.toString('latin1')) : [];
}
