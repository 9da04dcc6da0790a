import { isObject, readJson } from '../../config/json-object.ts';
import { objectIn } from '../wire/json-fields.ts';
import { hasObject } from './usage-reader.ts';

/** A line that is longer is no such chunk. */
const maxLineBytes = 64 * 1024;
const newline = 10;
const nothing = Buffer.alloc(0);
const usageKey = '"usage"';
const emptyChoices = /"choices":\s*\[\s*\]/;

/** Creates it for one stream: for a client that did not ask what its answer cost, while the daemon did. */
export function createUsageFilter() {
  /** A line that has not ended, in the pieces in which it came. */
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isAfterUsage = false;

  function take(): Buffer {
    const [only = nothing] = held;
    const line = held.length < 2 ? only : Buffer.concat(held);
    held = [];
    heldBytes = 0;
    return line;
  }

  function passLine(line: Buffer): boolean {
    const text = hasObject(line, usageKey) ? line.toString('utf8') : '';
    if (emptyChoices.test(text) && isUsageAlone(text)) {
      isAfterUsage = true;
      return false;
    }
    // The empty line that ended it goes with it.
    const isItsEnd = isAfterUsage && line.toString('latin1').trim() === '';
    isAfterUsage &&= isItsEnd;
    return !isItsEnd;
  }

  return {
    /** What may go on of this piece and of those before it: whole lines. */
    push(chunk: Uint8Array): Uint8Array {
      const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const end = piece.lastIndexOf(newline) + 1;
      if (end === 0 && heldBytes + piece.length <= maxLineBytes) {
        held.push(piece);
        heldBytes += piece.length;
        return nothing;
      }
      if (heldBytes > 0) held.push(end === 0 ? piece : piece.subarray(0, end));
      const lines = heldBytes > 0 ? take() : end === 0 ? piece : piece.subarray(0, end);
      if (end === 0) return lines;
      if (end < piece.length) {
        held.push(piece.subarray(end));
        heldBytes = piece.length - end;
      }
      if (!isAfterUsage && !hasObject(lines, usageKey)) return lines;
      const passed: Buffer[] = [];
      for (let at = 0; at < lines.length; ) {
        const next = lines.indexOf(newline, at) + 1;
        const line = lines.subarray(at, next);
        if (passLine(line)) passed.push(line);
        at = next;
      }
      return Buffer.concat(passed);
    },
    end(): Uint8Array {
      const line = take();
      return line.length > 0 && passLine(line) ? line : nothing;
    },
  };
}

function isUsageAlone(line: string): boolean {
  const { choices, usage, error } = objectIn(readJson(line.replace(/^data:\s*/, '')));
  return Array.isArray(choices) && choices.length === 0 && isObject(usage) && error === undefined;
}
