import { describe, expect, it } from 'vitest';
import { loopBudgetOf } from '../../src/loop/loop-budget.ts';

const tool = (isResearch: boolean, isDeep: boolean) => ({ flags: { isResearch, isDeep } });

describe('loopBudgetOf', () => {
  it('is five rounds for usual tools, and for none', () => {
    const usual = { repeats: 5, followUps: 5, renewals: 0 };
    expect([loopBudgetOf([]), loopBudgetOf([tool(false, false)])]).toEqual([usual, usual]);
  });

  it('is ten rounds as soon as one tool does research', () => {
    expect(loopBudgetOf([tool(false, false), tool(true, false)])).toEqual({ repeats: 10, followUps: 10, renewals: 0 });
  });

  it('may begin anew, a bounded number of times, after substantive work', () => {
    expect(loopBudgetOf([tool(false, true)])).toEqual({ repeats: 5, followUps: 5, renewals: 2 });
    expect(loopBudgetOf([tool(true, true)]).renewals).toBe(2);
  });
});
