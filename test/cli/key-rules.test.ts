import { describe, expect, it } from 'vitest';
import { describeRules, readNewRules, readRuleChanges } from '../../src/cli/commands/access/key-rules.ts';

describe('the rule --code', () => {
  it('is laid down, changed, taken away and shown', () => {
    expect(readNewRules({ code: true }, 0)).toEqual({ code: true });
    expect(readNewRules({}, 0)).toEqual({});
    expect(readRuleChanges({ code: true }, 0)).toEqual({ code: true });
    expect(readRuleChanges({ code: false }, 0)).toEqual({ code: null });
    expect(describeRules({ code: true, tools: ['a'] })).toBe('tools a, scripts');
  });
});

describe('the rule --expires', () => {
  it('is a time to come', () => {
    const now = Date.parse('2026-11-22');
    expect(readNewRules({ expires: '2d' }, now)).toEqual({ expiresAtMs: now + 2 * 86_400_000 });
    for (const expires of ['5', '0d', '2020-01-01', 'soon']) expect(() => readNewRules({ expires }, now)).toThrow(/--expires/);
  });
});
