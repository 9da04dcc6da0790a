import type { LogLine } from '../../../border/border.ts';
import type { CallMeter } from '../../../border/call-meter.ts';

/** The log of a module: lines as bytes of UTF-8. */
export interface ModuleLog {
  write(level: LogLine['level'], bytes: Uint8Array): void;
}

// Making one costs more than a short call; it keeps nothing between lines.
const decoder = new TextDecoder();

/** Passes on what the meter takes. */
export function createModuleLog(meter: CallMeter, send: (line: LogLine) => void): ModuleLog {
  return {
    write(level, bytes) {
      const line = meter.log((maxBytes) => ({ level, text: decoder.decode(bytes.subarray(0, maxBytes)), atMs: Date.now() }));
      if (line !== undefined) send(line);
    },
  };
}
