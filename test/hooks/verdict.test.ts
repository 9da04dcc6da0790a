import { describe, expect, it } from 'vitest';
import { readVerdict } from '../../src/hooks/before-call.ts';

describe('readVerdict', () => {
  it.each([undefined, null, {}, { block: false }])('takes %j for leave to go on', (output) => {
    expect(readVerdict(output)).toEqual({ kind: 'pass' });
  });

  it.each([
    [{ veto: 'no' }, 'no'],
    [{ veto: 'no', arguments: { a: 1 } }, 'no'],
    [{ veto: '' }, 'it gave no reason.'],
    [{ block: true, reason: 'no' }, 'no'],
    [{ block: true, blockReason: 'never', reason: 'no' }, 'never'],
    [{ block: true }, 'it gave no reason.'],
    [{ veto: 'two\nlines \u001b[31m and a colour\u202e' }, 'two lines and a colour'],
  ])('takes %j for a veto', (output, reason) => {
    expect(readVerdict(output)).toEqual({ kind: 'veto', reason });
  });

  it('bounds the reason', () => {
    expect(readVerdict({ veto: 'x'.repeat(10_000) })).toEqual({ kind: 'veto', reason: `${'x'.repeat(499)}…` });
  });

  it.each([{ arguments: { a: 1 } }, { params: { a: 1 } }, { arguments: { a: 1 }, params: { b: 2 } }])(
    'takes %j for a change',
    (output) => {
      expect(readVerdict(output)).toEqual({ kind: 'change', arguments: { a: 1 } });
    },
  );

  it.each(['no', 7, true, [], { arguments: [] }, { arguments: 'x' }, { veto: true }, { vetoed: 'x' }, { block: 'yes' }])(
    'does not understand %j',
    (output) => {
      expect(readVerdict(output)).toBeUndefined();
    },
  );
});
