/**
 * Gives bytes back to the system now: a collection of garbage that would do it may be far away. Nobody may look at them
 * afterwards, they read as empty.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  // Small Buffers lie in one that they share.
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength === byteLength) buffer.transfer(0);
}
