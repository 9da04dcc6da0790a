import { describe, expect, it } from 'vitest';
import { type CellUse, decideNesting, wouldWaitForItself } from '../../../src/calls/accept/nesting.ts';

describe('decideNesting', () => {
  it('lets a tool be called that is not under way, up to the depth', () => {
    expect(decideNesting({ tool: 'c@1.0.0', chain: ['a@1.0.0', 'b@1.0.0'], maxDepth: 3 })).toBeUndefined();
    expect(decideNesting({ tool: 'a@2.0.0', chain: ['a@1.0.0'], maxDepth: 3 })).toBeUndefined();
  });

  it('names the circle and the depth', () => {
    const chain = ['a@1.0.0', 'b@1.0.0'];
    expect(decideNesting({ tool: 'a@1.0.0', chain, maxDepth: 3 })).toMatchObject({
      code: 'call-cycle',
      message: '"a@1.0.0" is under way already, and would wait for itself: a@1.0.0 -> b@1.0.0 -> a@1.0.0.',
    });
    expect(decideNesting({ tool: 'c@1.0.0', chain, maxDepth: 2 })).toMatchObject({
      code: 'call-too-deep',
      message: 'At most 2 tools may call one another; this would be one more: a@1.0.0 -> b@1.0.0 -> c@1.0.0.',
    });
  });
});

describe('wouldWaitForItself', () => {
  const use = (id: string, parent: string | undefined, cellKey: string, isWaiting = false): CellUse => ({
    id,
    parent,
    cellKey,
    isWaiting,
  });

  it('finds a cell that a call above holds, however far above', () => {
    const uses = [use('1', undefined, 'A'), use('2', '1', ''), use('3', '2', '')];
    expect(wouldWaitForItself('A', '3', uses)).toBe(true);
    expect(wouldWaitForItself('A', '1', uses)).toBe(true);
    expect(wouldWaitForItself('B', '3', uses)).toBe(false);
    expect(wouldWaitForItself('', '3', uses)).toBe(false);
  });

  it('lets a call wait for a cell that somebody else holds', () => {
    const uses = [use('1', undefined, 'A'), use('2', undefined, 'B'), use('3', undefined, 'B', true)];
    expect(wouldWaitForItself('B', '1', uses)).toBe(false);
  });

  it('finds two that would wait for each other', () => {
    const uses = [use('1', undefined, 'A'), use('2', undefined, 'B'), use('2a', '2', ''), use('2b', '2a', 'A', true)];
    expect(wouldWaitForItself('B', '1', uses)).toBe(true);
    expect(wouldWaitForItself('C', '1', uses)).toBe(false);
  });

  it('finds a ring of three', () => {
    const uses = [
      use('1', undefined, 'A'),
      use('2', undefined, 'B'),
      use('3', undefined, 'C'),
      use('2a', '2', 'C', true),
      use('3a', '3', 'A', true),
    ];
    expect(wouldWaitForItself('B', '1', uses)).toBe(true);
  });

  it('ends where calls name one another as parents', () => {
    const uses = [use('1', '2', 'A', true), use('2', '1', 'A', true), use('3', '3', 'A')];
    expect(wouldWaitForItself('A', '1', uses)).toBe(false);
  });
});
