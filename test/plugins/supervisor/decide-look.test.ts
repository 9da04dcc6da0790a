import { describe, expect, it } from 'vitest';
import { decideLook, type LookFacts } from '../../../src/plugins/supervisor/reconciler.ts';
import { makeGeneration } from '../rig/make-generation.ts';

const ready: LookFacts['record'] = {
  lifecycle: { state: 'ready', serving: 'whole' },
  waiting: undefined,
  pinnedAwayFrom: undefined,
  escalation: undefined,
};
const facts: LookFacts = { record: ready, files: 'same', isPinHolding: true, isUnblocked: false, isExplicit: false };
const pinned = { ...ready, pinnedAwayFrom: { contentHash: 'x', writing: 'then' } };
const failed = { ...ready, lifecycle: { state: 'failed', serving: 'nothing' } } as const;
const blocked = { ...failed, waiting: { generation: makeGeneration(1), because: 'duplicate' } } as const;

describe('decideLook', () => {
  it.each<[string, Partial<LookFacts>, ReturnType<typeof decideLook>]>([
    ['nothing was looked at yet', { files: undefined }, 'build'],
    ['the files changed', { files: 'changed' }, 'build'],
    ['the files are the same', {}, 'nothing'],
    ['the files were only touched', { files: 'touched' }, 'nothing'],
    ['a person asks for what serves already', { isExplicit: true }, 'nothing'],
    ['a person asks for what failed', { record: failed, isExplicit: true }, 'build'],
    ['what failed lies there as before', { record: failed }, 'nothing'],
    ['a rollback holds', { record: pinned }, 'nothing'],
    ['a person asks during a rollback', { record: pinned, isExplicit: true }, 'build'],
    ['somebody saved again after a rollback', { record: pinned, isPinHolding: false }, 'build'],
    ['its names are free', { record: blocked, isUnblocked: true }, 'offer-waiting'],
    ['its names are taken', { record: blocked }, 'nothing'],
    ['its names are free and its files changed', { record: blocked, isUnblocked: true, files: 'changed' }, 'build'],
  ])('when %s', (_case, given, decision) => {
    expect(decideLook({ ...facts, ...given })).toBe(decision);
  });
});
