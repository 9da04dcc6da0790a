import { describe, expect, it } from 'vitest';
import { createLogTail } from '../../../src/calls/attempt/log-tail.ts';

describe('createLogTail', () => {
  it('keeps the last lines, bounded in number and size', () => {
    const tail = createLogTail();
    expect(tail.lines()).toEqual([]);
    for (let n = 0; n < 500; n++) tail.add({ level: 'info', text: `line ${n}`, atMs: n });
    expect(tail.lines()).toHaveLength(200);
    expect(tail.lines().at(-1)?.text).toBe('line 499');
    tail.add({ level: 'warn', text: 'x'.repeat(100_000), atMs: 500 });
    expect(tail.lines()).toMatchObject([{ level: 'warn', text: 'x'.repeat(32 * 1024) }]);
  });
});
