const newline = 0x0a;

/** Creates a reader of lines of at most `maxBytes` bytes. */
export function createLineReader(maxBytes: number) {
  let pieces: Buffer[] = [];
  let held = 0;

  function take(last: Buffer): string {
    const line = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
    pieces = [];
    held = 0;
    return line.toString('utf8').trim();
  }

  function keep(rest: Buffer): void {
    held += rest.length;
    if (held > maxBytes) {
      pieces = [];
      held = 0;
      throw new RangeError(`A message has more than the ${maxBytes} bytes that are read of a server.`);
    }
    if (rest.length > 0) pieces.push(rest);
  }

  return {
    /** Throws a RangeError for a line that is too long. */
    push(chunk: Buffer): string[] {
      const lines: string[] = [];
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        if (held + end - start > maxBytes) keep(chunk.subarray(start, end));
        const line = take(chunk.subarray(start, end));
        if (line !== '') lines.push(line);
        start = end + 1;
      }
      keep(chunk.subarray(start));
      return lines;
    },
  };
}
