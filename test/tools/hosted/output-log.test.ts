import { describe, expect, it } from 'vitest';
import type { LogLine } from '../../../src/border/border.ts';
import { createOutputLog } from '../../../src/tools/hosted/output-log.ts';

function openLog(limits = { logLines: 1000, logBytes: 100_000 }) {
  const lines: LogLine[] = [];
  const log = createOutputLog(
    (line) => lines.push(line),
    limits,
    () => 7,
  );
  const write = (stream: 'stdout' | 'stderr', ...parts: (string | Uint8Array)[]) => {
    for (const part of parts) log.add(stream, Buffer.from(part));
  };
  return { log, write, texts: () => lines.map(({ level, text }) => `${level} ${text}`) };
}

describe('createOutputLog', () => {
  it('makes lines of what comes in pieces, each stream for itself', () => {
    const { log, write, texts } = openLog();
    write('stdout', 'on', 'e\ntw');
    write('stderr', 'bad');
    write('stdout', 'o\r\nrest');
    expect(texts()).toEqual(['info one', 'info two']);
    log.end();
    expect(texts()).toEqual(['info one', 'info two', 'info rest', 'warn bad']);
    expect(log.lines).toBe(4);
  });

  it('keeps characters whole that are cut between two pieces', () => {
    const { log, write, texts } = openLog();
    const bytes = Buffer.from('grün\n');
    write('stdout', bytes.subarray(0, 3), bytes.subarray(3));
    log.end();
    expect(texts()).toEqual(['info grün']);
  });

  it('logs a line without end in pieces instead of keeping it', () => {
    const { log, write, texts } = openLog();
    write('stdout', 'x'.repeat(9000));
    expect(texts().map(({ length }) => length)).toEqual([4005, 4005]);
    log.end();
    expect(texts()).toHaveLength(3);
  });

  it('says once that it is full, in lines or in bytes', () => {
    const byLines = openLog({ logLines: 2, logBytes: 1000 });
    byLines.write('stdout', 'a\nb\nc\nd\n');
    expect(byLines.texts()).toEqual(['info a', 'info b', 'warn The log of this call is full; what follows is dropped.']);
    const byBytes = openLog({ logLines: 100, logBytes: 5 });
    byBytes.write('stderr', 'abc\ndefg\nh\n');
    byBytes.log.end();
    expect(byBytes.texts()).toEqual(['warn abc', 'warn de', 'warn The log of this call is full; what follows is dropped.']);
  });
});
