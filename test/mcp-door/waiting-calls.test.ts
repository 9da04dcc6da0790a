import { describe, expect, it } from 'vitest';
import { createWaitingCalls } from '../../src/mcp-door/waiting-calls.ts';

const caller = { id: 'key_a', role: 'caller' } as const;

describe('createWaitingCalls', () => {
  it('finds the newest hundred of a caller again, and none of another or of nobody', () => {
    const calls = createWaitingCalls();
    for (let each = 0; each <= 100; each++) calls.keep(caller, `request ${each}`, `exe_${each}`);
    expect(calls.find(caller, 'request 0')).toBeUndefined();
    expect(calls.find(caller, 'request 1')).toBe('exe_1');
    expect(calls.find(caller, 'request 100')).toBe('exe_100');
    expect(calls.find({ ...caller, id: 'key_b' }, 'request 100')).toBeUndefined();
    const nobody = { ...caller, id: 'anonymous', isAnonymous: true } as const;
    calls.keep(nobody, 'request', 'exe_x');
    expect(calls.find(nobody, 'request')).toBeUndefined();
    calls.forget(caller, 'request 1');
    expect(calls.find(caller, 'request 1')).toBeUndefined();
  });
});
