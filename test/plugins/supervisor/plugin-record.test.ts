import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Generation } from '../../../src/plugins/generations/generation.ts';
import { createLeasable } from '../../../src/plugins/generations/leases.ts';
import { mayServe } from '../../../src/plugins/lifecycle.ts';
import {
  createPluginRecord,
  type Live,
  type PluginEvent,
  type PluginRecord,
  reduce,
} from '../../../src/plugins/supervisor/plugin-record.ts';
import { makeGeneration } from '../rig/make-generation.ts';

const root = { path: '/plugins', kind: 'plugins', label: 'plugins' } as const;
const source = {
  path: '/plugins/a.ts',
  name: 'a.ts',
  root,
  kind: 'file',
  entry: '/plugins/a.ts',
  realEntry: '/plugins/a.ts',
  pluginDir: '/plugins',
  device: 1,
} as const;
const empty = createPluginRecord(source, { ownerOf: () => undefined });
const diagnostic = { code: 'compile-failed', message: 'It does not compile.', fix: 'Mend it.' } as const;
const pin = { contentHash: 'turned-away', writing: 'then' };

function liveOf(generation: Generation): Live {
  return { generation, leasable: createLeasable({ generation, granted: () => ({}), onDrained: () => {} }) };
}

/** What the stage does with an event: a generation that serves is published before it is noted. */
function follow(record: PluginRecord, event: PluginEvent): PluginRecord {
  return Object.freeze({ ...record, ...reduce(record, Object.freeze(event)).change });
}

function built(number: number, pending = false): PluginEvent {
  const generation = makeGeneration(number);
  return { type: 'built', pending, live: liveOf(generation), atMs: number };
}

const serving = [{ type: 'found' }, built(1)] as const satisfies readonly PluginEvent[];
const recordAfter = (...events: readonly PluginEvent[]) => events.reduce(follow, empty);

const events: fc.Arbitrary<PluginEvent> = fc.oneof(
  fc.constantFrom<PluginEvent>(
    { type: 'found' },
    { type: 'found', isExplicit: true },
    { type: 'unpinned' },
    { type: 'refused', diagnostic },
    { type: 'failed', diagnostic, escalation: undefined },
    { type: 'rolled-back', pinnedAwayFrom: pin },
    { type: 'displaced', diagnostic },
    { type: 'reverted' },
    { type: 'regranted', pending: false, isHolding: false },
    { type: 'vanished' },
    { type: 'switched', enabled: true },
    { type: 'switched', enabled: true, isWithheld: true },
    { type: 'switched', enabled: false },
    { type: 'withheld' },
    { type: 'quarantined' },
    { type: 'timed', lastReloadMs: 1 },
  ),
  fc.integer({ min: 1, max: 9 }).map((number) => built(number)),
);

describe('reduce', () => {
  it('has a live generation exactly where the plugin stands as one that serves, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 30 }), (history) => {
        for (let count = 0; count <= history.length; count++) {
          const record = recordAfter(...history.slice(0, count));
          expect(record.live !== undefined).toBe(record.lifecycle.serving !== 'nothing');
          if (!mayServe(record.lifecycle.state)) expect(record.live).toBeUndefined();
        }
      }),
    );
  });

  it('keeps the last good generation over a failure, and tells what is wrong until there is a better one', () => {
    const failed = recordAfter(...serving, { type: 'found' }, { type: 'failed', diagnostic, escalation: undefined });
    expect(failed).toMatchObject({ diagnostic, lifecycle: { state: 'degraded' }, live: { generation: { number: 1 } } });
    expect(follow(failed, built(2))).toMatchObject({ diagnostic: undefined, live: { generation: { number: 2 } } });
    expect(follow(failed, { type: 'reverted' })).toMatchObject({ diagnostic: undefined, lifecycle: { state: 'ready' } });
  });

  it('lets what asks for more wait beside what serves', () => {
    const waiting = recordAfter(...serving, built(2, true));
    expect(waiting).toMatchObject({
      live: { generation: { number: 1 } },
      waiting: { because: 'grant', generation: { number: 2 } },
    });
    expect(follow(waiting, { type: 'failed', diagnostic, escalation: undefined }).waiting).toBeUndefined();
  });

  it('holds a rollback until the content counts again: a person asks, or it fails', () => {
    const pinned = recordAfter(...serving, { type: 'rolled-back', pinnedAwayFrom: pin });
    expect(follow(pinned, { type: 'found' }).pinnedAwayFrom).toBe(pin);
    expect(follow(pinned, { type: 'found', isExplicit: true }).pinnedAwayFrom).toBeUndefined();
    expect(follow(pinned, { type: 'unpinned' }).pinnedAwayFrom).toBeUndefined();
  });

  it('does not take a quarantined generation for the last good one of new content', () => {
    const quarantined = recordAfter(...serving, { type: 'quarantined' });
    expect(quarantined).toMatchObject({ live: undefined, chosen: { number: 1 } });
    expect(follow(quarantined, { type: 'found' }).chosen).toBeUndefined();
  });

  it('takes nothing from a build that comes too late', () => {
    const off = recordAfter(...serving, { type: 'switched', enabled: false });
    expect(follow(off, built(2))).toEqual(off);
  });

  it('keeps the displaced generation for the day on which the name is free', () => {
    expect(recordAfter(...serving, { type: 'displaced', diagnostic })).toMatchObject({
      live: undefined,
      waiting: { because: 'duplicate', generation: { number: 1 } },
    });
  });
});
