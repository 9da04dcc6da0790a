/** Takes the chunk that tells of nothing but the usage out of a stream of Chat Completions. */
export interface UsageFilter {
  /** What may go on of this piece and of those before it: whole lines. */
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/** A line that is longer is no such chunk. */
const maxLineBytes = 64 * 1024;
const newline = 10;
const nothing = Buffer.alloc(0);
const emptyChoices = /"choices":\s*\[\s*\]/;

/** Creates it for one stream: for a client that did not ask what its answer cost, while the daemon did. */
export function createUsageFilter(): UsageFilter {
  let held: Buffer = nothing;
  let isAfterUsage = false;

  function passLine(line: Buffer): boolean {
    const text = line.includes('"usage"') ? line.toString('utf8') : '';
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
    push(chunk) {
      const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const all = held.length === 0 ? piece : Buffer.concat([held, piece]);
      const end = all.lastIndexOf(newline) + 1;
      held = all.subarray(end);
      const lines = all.subarray(0, end);
      if (held.length > maxLineBytes) {
        held = nothing;
        return all;
      }
      if (!isAfterUsage && !lines.includes('"usage"')) return lines;
      const passed: Buffer[] = [];
      for (let at = 0; at < lines.length; ) {
        const next = lines.indexOf(newline, at) + 1;
        const line = lines.subarray(at, next);
        if (passLine(line)) passed.push(line);
        at = next;
      }
      return Buffer.concat(passed);
    },
    end: () => (held.length > 0 && passLine(held) ? held : nothing),
  };
}

function isUsageAlone(line: string): boolean {
  try {
    const { choices, usage, error } = JSON.parse(line.replace(/^data:\s*/, ''));
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null && error === undefined;
  } catch {
    return false;
  }
}
