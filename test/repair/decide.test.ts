import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/config/schema.ts';
import { decideModelRoom, decideNext, type TriedFacts } from '../../src/repair/decide-next.ts';
import { decideStart, maxWaitingRepairs, type StartFacts } from '../../src/repair/decide-start.ts';
import type { Repair, RepairState } from '../../src/repair/repair.ts';

const settings = defaultSettings.repair;

function repair(state: RepairState, more: Partial<Repair> = {}): Repair {
  return {
    id: `rep_${state}`,
    path: '/plugins/a.ts',
    plugin: 'a',
    class: 'does-not-compile',
    failureKey: 'key',
    failure: { code: 'compile-failed', message: 'm', fix: 'f' },
    contentHash: 'content',
    state,
    reason: '',
    attempts: [],
    tokens: 0,
    cost: 0,
    startedAtMs: 0,
    endedAtMs: 1000,
    ...more,
  };
}

const failed: StartFacts = {
  settings,
  class: 'does-not-compile',
  failureKey: 'key',
  contentHash: 'content',
  history: [],
  liveGeneration: undefined,
  openProposals: 0,
  waitingRepairs: 0,
  isForPerson: false,
  name: 'a',
  nowMs: 1_000_000,
};
const brakeOf = (facts: Partial<StartFacts>) => {
  const decision = decideStart({ ...failed, ...facts });
  return decision.starts ? decision.mode : decision.brake;
};

describe('decideStart', () => {
  it('starts with the mode of the class: what does not load by itself, what fails when it runs as a proposal', () => {
    expect(brakeOf({})).toBe('auto');
    expect(brakeOf({ class: 'does-not-load' })).toBe('auto');
    expect(brakeOf({ class: 'manifest-invalid' })).toBe('auto');
    expect(brakeOf({ class: 'runtime-error' })).toBe('propose');
    expect(brakeOf({ class: 'check-failed' })).toBe('propose');
    expect(brakeOf({ class: 'limit-reached' })).toBe('propose');
    expect(brakeOf({ settings: { ...settings, mode: { 'runtime-error': 'auto' } }, class: 'runtime-error' })).toBe('auto');
    expect(brakeOf({ settings: { ...settings, mode: 'propose' } }), 'one word for all classes').toBe('propose');
  });

  it('leaves a class alone that is off, and proposes when a person asks even so', () => {
    const off = { ...settings, mode: { 'does-not-compile': 'off' } } as const;
    expect(brakeOf({ settings: off })).toBe('off');
    expect(brakeOf({ settings: off, isForPerson: true })).toBe('propose');
  });

  it('stops at the same diagnosis of the same content, and goes on with another content or another failure', () => {
    const history = [repair('given-up')];
    expect(brakeOf({ history })).toBe('same-diagnosis');
    expect(brakeOf({ history, failureKey: 'other' })).toBe('auto');
    expect(brakeOf({ history, contentHash: 'other' })).toBe('auto');
    expect(brakeOf({ history, isForPerson: true })).toBe('auto');
  });

  it('stops after so many repairs of the same content that did not help', () => {
    const history = [1, 2, 3].map((number) => repair('given-up', { failureKey: `k${number}` }));
    expect(brakeOf({ history })).toBe('attempts');
    expect(brakeOf({ history: history.slice(1) })).toBe('auto');
    expect(brakeOf({ history: [repair('interrupted'), ...history.slice(1)] })).toBe('attempts');
  });

  it('waits twice as long after each repair of the same failure in a row that did not help', () => {
    const row = (count: number) => Array.from({ length: count }, (_, at) => repair('given-up', { contentHash: `c${at}` }));
    const afterMs = (count: number, ms: number) => brakeOf({ history: row(count), nowMs: 1000 + ms });
    expect([afterMs(1, 29_999), afterMs(1, 30_000)]).toEqual(['back-off', 'auto']);
    expect([afterMs(2, 59_999), afterMs(2, 60_000)]).toEqual(['back-off', 'auto']);
    expect([afterMs(4, 239_999), afterMs(4, 240_000)]).toEqual(['back-off', 'auto']);
    expect(afterMs(60, 86_400_000)).toBe('auto');
    // One that helped ends the row.
    expect(brakeOf({ history: [repair('applied', { contentHash: 'c' }), ...row(3)], nowMs: 1001 })).toBe('auto');
  });

  it('does not repeat what a person turned down, what waits for one, and what serves', () => {
    expect(brakeOf({ history: [repair('rejected', { failureKey: 'other' })] })).toBe('refused-by-person');
    expect(brakeOf({ history: [repair('rolled-back')] })).toBe('refused-by-person');
    expect(brakeOf({ history: [repair('proposed')] })).toBe('proposed');
    expect(brakeOf({ history: [repair('published', { generation: 'g' })], liveGeneration: 'g', isForPerson: true })).toBe(
      'mended',
    );
    expect(brakeOf({ history: [repair('published', { generation: 'g' })], liveGeneration: 'h' })).toBe('auto');
  });

  it('has room for so many proposals and so many repairs that wait', () => {
    expect(brakeOf({ openProposals: 50 })).toBe('proposals-full');
    expect(brakeOf({ openProposals: 59, isForPerson: true }), 'the operator has room of its own').toBe('auto');
    expect(brakeOf({ openProposals: 60, isForPerson: true })).toBe('proposals-full');
    expect(brakeOf({ waitingRepairs: maxWaitingRepairs, isForPerson: true })).toBe('queue-full');
  });
});

const tried: TriedFacts = { verdict: 'mended', sureness: 'sure', author: 'repair', asks: [], mode: 'auto', settings };

describe('decideNext', () => {
  it('publishes what is sure by itself, and nothing that somebody called off', () => {
    expect(decideNext(tried)).toBe('publish');
    expect(decideNext({ ...tried, mode: 'propose' })).toBe('propose');
    expect(decideNext({ ...tried, sureness: 'maybe' })).toBe('propose');
    expect(decideNext({ ...tried, sureness: 'maybe', settings: { ...settings, maybe: 'auto' } })).toBe('publish');
    expect(decideNext({ ...tried, sureness: 'maybe', settings: { ...settings, maybe: 'off' } })).toBe('put-aside');
  });

  it('publishes what a model wrote only where the class and the setting for models say so', () => {
    const byModel = { ...tried, author: 'model' } as const;
    expect(decideNext(byModel)).toBe('propose');
    expect(decideNext({ ...byModel, settings: { ...settings, byModel: 'auto' } })).toBe('publish');
    expect(decideNext({ ...byModel, mode: 'propose', settings: { ...settings, byModel: 'auto' } })).toBe('propose');
    expect(decideNext({ ...byModel, settings: { ...settings, byModel: 'off' } })).toBe('put-aside');
  });

  it('never publishes what asks for more', () => {
    const widest = { ...settings, byModel: 'auto', maybe: 'auto' } as const;
    expect(decideNext({ ...tried, verdict: 'asks-for-more', settings: widest })).toBe('propose');
    expect(decideNext({ ...tried, author: 'model', asks: ['the host evil.example'], settings: widest })).toBe('propose');
  });

  it('puts aside what does not help', () => {
    expect(decideNext({ ...tried, verdict: 'not-mended' })).toBe('put-aside');
    expect(decideNext({ ...tried, verdict: 'worse' })).toBe('put-aside');
  });
});

describe('decideModelRoom', () => {
  it('is what is left of the day, of tokens and of money', () => {
    expect(decideModelRoom({ tokens: 150_000, cost: 0.25 }, settings)).toEqual({ tokens: 50_000, cost: 0.75 });
    expect(decideModelRoom({ tokens: 200_000, cost: 0 }, settings)).toBeUndefined();
    expect(decideModelRoom({ tokens: 0, cost: 1 }, settings)).toBeUndefined();
  });
});
