const newline = 10;
const bytesPerToken = 4;

/**
 * Servers stream a token or more in each event, and what an event has around its text is as long as the shortest of them is. A whole
 * answer is taken for text.
 */
export function createAnswerGauge(isStreamed: boolean) {
  let events = 0;
  let bytes = 0;
  let shortest = Number.POSITIVE_INFINITY;
  let line = 0;
  return {
    push(chunk: Uint8Array): void {
      bytes += chunk.length;
      if (!isStreamed) return;
      const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
        line += at - from;
        if (line > minEventBytes) {
          events += 1;
          shortest = Math.min(shortest, line);
        }
        line = 0;
        from = at + 1;
      }
      line += piece.length - from;
    },
    tokens(): number {
      if (!isStreamed || events === 0) return Math.ceil(bytes / bytesPerToken);
      return Math.max(events, Math.ceil((bytes - events * shortest) / bytesPerToken));
    },
  };
}

/** `data: [DONE]`, names of events and comments are no events. */
const minEventBytes = 48;
