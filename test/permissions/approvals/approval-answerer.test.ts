import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideAnswerer } from '../../../src/permissions/approvals/approval-answerer.ts';
import type { Answerer, ApprovalKind } from '../../../src/permissions/approvals/approval-types.ts';

const ids = fc.constantFrom('local', 'key_a', 'key_b');
const questions = fc.record({
  kind: fc.constantFrom<ApprovalKind>('grant', 'call', 'confirm'),
  caller: fc.option(ids, { nil: undefined }),
});
const answerers = fc.record({
  id: ids,
  role: fc.constantFrom<Answerer['role']>('admin', 'caller'),
  mayAnswer: fc.boolean(),
  isPerson: fc.boolean(),
});
type Question = { readonly kind: ApprovalKind; readonly caller?: string | undefined };

function decide({ kind, caller }: Question, by: Answerer) {
  return decideAnswerer({ kind, ...(caller === undefined ? {} : { caller }) }, by);
}

function holds(check: (question: Question, by: Answerer) => boolean | undefined): void {
  fc.assert(
    fc.property(questions, answerers, (question, by) => check(question, by) ?? true),
    { numRuns: 2000 },
  );
}

describe('decideAnswerer', () => {
  it('lets every admin answer what another caused', () => {
    holds((question, by) => (by.role === 'admin' && question.caller !== by.id ? decide(question, by).may : undefined));
  });

  it('lets no caller answer, or even see, what it did not cause', () => {
    holds((question, by) => {
      if (by.role !== 'caller' || question.caller === by.id) return undefined;
      const decision = decide(question, by);
      return !decision.may && decision.unseen;
    });
  });

  it('lets whoever caused it answer only with the operator’s leave', () => {
    holds((question, by) => {
      if (question.caller !== by.id || !decide(question, by).may) return undefined;
      const isOperatorInPerson = by.id === 'local' && by.role === 'admin' && by.isPerson;
      return isOperatorInPerson || (by.mayAnswer && question.kind !== 'grant');
    });
  });

  it('takes the word of no other key that a person answers', () => {
    holds((question, by) =>
      by.id === 'local' ? undefined : decide(question, by).may === decide(question, { ...by, isPerson: !by.isPerson }).may,
    );
  });

  it('lets no caller grant permissions', () => {
    holds((question, by) => (question.kind === 'grant' && by.role === 'caller' ? !decide(question, by).may : undefined));
  });

  it('lets no key answer what another key of its line caused', () => {
    const question: Question = { kind: 'call', caller: 'key_a' };
    const admin: Answerer = {
      id: 'key_b',
      role: 'admin',
      mayAnswer: false,
      isPerson: true,
      isOfLineOf: (other) => other === 'key_a',
    };
    expect(decide(question, admin)).toMatchObject({ may: false, reason: expect.stringContaining('same line') });
    expect(decide({ ...question, caller: 'key_c' }, admin)).toEqual({ may: true });
  });

  it('lets whoever caused a form fill it in, and admins, and nobody else', () => {
    const form: Question = { kind: 'ask', caller: 'key_a' };
    const key: Answerer = { id: 'key_a', role: 'caller', mayAnswer: false, isPerson: false };
    expect(decide(form, key)).toEqual({ may: true });
    expect(decide(form, { ...key, id: 'key_b' })).toEqual({ may: false, unseen: true });
    expect(decide(form, { ...key, id: 'key_b', role: 'admin' })).toEqual({ may: true });
  });

  it('says why, where the answerer may know of the question', () => {
    const own: Question = { kind: 'call', caller: 'key_a' };
    const key: Answerer = { id: 'key_a', role: 'caller', mayAnswer: false, isPerson: true };
    expect(decide(own, key)).toMatchObject({ reason: expect.stringContaining('--may-answer') });
    expect(decide(own, { ...key, mayAnswer: true })).toEqual({ may: true });
    expect(decide({ ...own, kind: 'grant' }, { ...key, mayAnswer: true })).toMatchObject({ may: false, unseen: false });
    const operator: Answerer = { id: 'local', role: 'admin', mayAnswer: false, isPerson: false };
    expect(decide({ ...own, caller: 'local' }, operator)).toMatchObject({ reason: expect.stringContaining('terminal') });
  });
});
