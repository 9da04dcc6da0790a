import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { absent, type Lifecycle, type LifecycleEvent, transition } from '../../src/plugins/lifecycle.ts';

const events: fc.Arbitrary<LifecycleEvent> = fc.oneof(
  fc.constantFrom<LifecycleEvent>(
    { type: 'found' },
    { type: 'failed' },
    { type: 'held' },
    { type: 'reverted' },
    { type: 'displaced' },
    { type: 'vanished' },
    { type: 'disabled' },
    { type: 'enabled' },
    { type: 'quarantined' },
  ),
  fc.record({ type: fc.constant('built' as const), pending: fc.boolean() }),
  fc.record({ type: fc.constant('regranted' as const), pending: fc.boolean() }),
);

/** Nothing that a transition is given may change by it: a change would throw here. */
function follow(history: readonly LifecycleEvent[], from: Lifecycle = absent): Lifecycle {
  return history.reduce((lifecycle, event) => Object.freeze(transition(lifecycle, Object.freeze(event)).next), from);
}

const serves = (lifecycle: Lifecycle) => lifecycle.serving !== 'nothing';

describe('transition', () => {
  it('takes a new plugin through its build', () => {
    expect(transition(absent, { type: 'found' })).toEqual({
      next: { state: 'loading', serving: 'nothing' },
      effects: ['build'],
    });
    expect(follow([{ type: 'found' }, { type: 'built', pending: false }]).state).toBe('ready');
    expect(follow([{ type: 'found' }, { type: 'failed' }]).state).toBe('failed');
  });

  it('keeps the last good generation over a failure', () => {
    const degraded = follow([{ type: 'found' }, { type: 'built', pending: false }, { type: 'found' }, { type: 'failed' }]);
    expect(degraded).toEqual({ state: 'degraded', serving: 'whole' });
    expect(transition(degraded, { type: 'reverted' }).next.state).toBe('ready');
  });

  it('holds what waits for an engine, with the last good generation serving where there is one', () => {
    expect(follow([{ type: 'found' }, { type: 'held' }])).toEqual({ state: 'pending-grant', serving: 'nothing' });
    const ready = follow([{ type: 'found' }, { type: 'built', pending: false }]);
    expect(transition(ready, { type: 'held' })).toEqual({ next: { state: 'pending-grant', serving: 'whole' }, effects: [] });
    expect(follow([{ type: 'disabled' }, { type: 'held' }]).state).toBe('disabled');
  });

  it('publishes what waits for a grant only where nothing better serves', () => {
    const fresh = transition(follow([{ type: 'found' }]), { type: 'built', pending: true });
    expect(fresh).toEqual({ next: { state: 'pending-grant', serving: 'limited' }, effects: ['publish'] });
    const ready = follow([{ type: 'found' }, { type: 'built', pending: false }]);
    expect(transition(ready, { type: 'built', pending: true })).toEqual({
      next: { state: 'pending-grant', serving: 'whole' },
      effects: ['hold'],
    });
    expect(transition(fresh.next, { type: 'regranted', pending: false }).next.state).toBe('ready');
  });

  it('knows in every state whether something serves', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 40 }), (history) => {
        const { state, serving } = follow(history);
        const mustServe = state === 'ready' || state === 'degraded' || state === 'pending-grant';
        // What was held before its first generation waits, and has nothing to serve.
        const mayWait = state === 'pending-grant' && history.some(({ type }) => type === 'held');
        if (!mayWait) expect(serving !== 'nothing').toBe(mustServe);
        if (state === 'ready') expect(serving).toBe('whole');
      }),
    );
  });

  it('withdraws exactly when something stops to serve, and publishes whenever something begins to', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 40 }), events, (history, event) => {
        const now = follow(history);
        const { next, effects } = transition(now, event);
        expect(effects.includes('withdraw')).toBe(serves(now) && !serves(next));
        if (!serves(now) && serves(next)) expect(effects).toContain('publish');
      }),
    );
  });

  it('never loses a generation that serves to a failed build', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 40 }), (history) => {
        const now = follow(history);
        expect(serves(transition(now, { type: 'failed' }).next)).toBe(serves(now));
      }),
    );
  });

  it('lets no late result bring a plugin back that was switched off', () => {
    fc.assert(
      fc.property(
        fc.array(events),
        fc.constantFrom('disabled' as const, 'quarantined' as const),
        fc.boolean(),
        (history, off, pending) => {
          const now = follow([...history, { type: 'found' }, { type: off }]);
          fc.pre(now.state === off);
          expect(transition(now, { type: 'built', pending })).toEqual({ next: now, effects: [] });
          expect(transition(now, { type: 'failed' })).toEqual({ next: now, effects: [] });
        },
      ),
    );
  });

  it('forgets what vanished, from wherever it was', () => {
    fc.assert(
      fc.property(fc.array(events), (history) => {
        const now = follow(history);
        expect(transition(now, { type: 'vanished' })).toEqual({ next: absent, effects: serves(now) ? ['withdraw'] : [] });
      }),
    );
  });
});
