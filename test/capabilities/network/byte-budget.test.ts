import { describe, expect, it } from 'vitest';
import { createByteBudget } from '../../../src/capabilities/network/byte-budget.ts';

describe('createByteBudget', () => {
  it('bounds one owner and all together, and takes back what is closed', () => {
    const budget = createByteBudget({ perOwnerBytes: 10, totalBytes: 15 });
    const first = budget.open('ann');
    const second = budget.open('ann');
    first.take(6);
    expect(() => second.take(5)).toThrow('Too many large responses');
    second.take(4);
    const other = budget.open('bob');
    expect(() => other.take(6)).toThrow('Too many large responses');
    other.take(5);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    other.take(5);
    expect(() => other.take(1)).toThrow('Too many large responses');
    second.take(1);
  });
});
