import { Buffer } from 'node:buffer';

/** Keeps the beginning of one output stream. */
export interface KeptOutput {
  /** False once so much came beyond what is kept that the command is not worth its run any more. */
  add(bytes: Buffer): boolean;
  read(): Buffer;
  readonly isTruncated: boolean;
}

/** Beyond what is kept, so much is read and thrown away, so that a chatty command can come to its end. */
const maxThrownAwayBytes = 8 * 1024 * 1024;

/** Makes the keeper of at most `maxBytes`. */
export function keepOutput(maxBytes: number): KeptOutput {
  const parts: Buffer[] = [];
  let seen = 0;
  return {
    add: (bytes) => {
      const room = maxBytes - seen;
      // A copy: the part is a view on a larger buffer of the socket.
      if (room > 0) parts.push(Buffer.from(bytes.subarray(0, room)));
      seen += bytes.length;
      return seen <= maxBytes + maxThrownAwayBytes;
    },
    read: () => Buffer.concat(parts),
    get isTruncated() {
      return seen > maxBytes;
    },
  };
}
