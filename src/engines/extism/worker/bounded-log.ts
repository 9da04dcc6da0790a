import type { LogLine } from '../../../border/border.ts';

/** Passes lines of a call on until its bounds are reached, then says so once. */
export interface BoundedLog {
  write(level: LogLine['level'], bytes: Uint8Array): void;
  /** Lines passed on so far. */
  count(): number;
}

// Making one costs more than a short call; it keeps nothing between lines.
const decoder = new TextDecoder();

/** A log of at most `logLines` lines and `logBytes` bytes of UTF-8; what is beyond is dropped. */
export function createBoundedLog(
  bounds: { readonly logLines: number; readonly logBytes: number },
  send: (line: LogLine) => void,
): BoundedLog {
  let lines = 0;
  let bytesLeft = bounds.logBytes;
  let isFull = false;
  return {
    write(level, bytes) {
      if (isFull) return;
      if (lines >= bounds.logLines || bytesLeft <= 0) {
        isFull = true;
        const text = `The log reached its limit of ${bounds.logLines} lines or ${bounds.logBytes} bytes; the rest is dropped.`;
        send({ level: 'warn', text, atMs: Date.now() });
        return;
      }
      const kept = bytes.subarray(0, bytesLeft);
      lines += 1;
      bytesLeft -= kept.length;
      send({ level, text: decoder.decode(kept), atMs: Date.now() });
    },
    count: () => lines,
  };
}
