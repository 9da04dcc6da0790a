import { describe, expect, it } from 'vitest';
import { LogTail } from '../../../src/calls/record/call-notes.ts';

describe('LogTail', () => {
  it('keeps the last lines, bounded in number and size', () => {
    const tail = new LogTail();
    expect(tail.lines()).toEqual([]);
    for (let n = 0; n < 500; n++) tail.add({ level: 'info', text: `line ${n}`, atMs: n });
    expect(tail.lines()).toHaveLength(200);
    expect(tail.lines().at(-1)?.text).toBe('line 499');
    tail.add({ level: 'warn', text: 'x'.repeat(100_000), atMs: 500 });
    expect(tail.lines()).toMatchObject([{ level: 'warn', text: 'x'.repeat(32 * 1024) }]);
  });
});
