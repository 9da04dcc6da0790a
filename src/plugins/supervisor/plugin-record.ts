import type { NameRegistry } from '../../names/name-registry.ts';
import { nameFromFile } from '../discovery/entry-names.ts';
import { displayPath } from '../discovery/plugin-roots.ts';
import type { PluginSource } from '../discovery/plugin-source.ts';
import type { Generation } from '../generations/generation.ts';
import type { Leasable } from '../generations/leases.ts';
import { absent, type Lifecycle, type LifecycleEffect, type LifecycleEvent, transition } from '../lifecycle.ts';
import type { Diagnostic } from '../plugin-types.ts';
import type { TransitionRecord } from '../supervisor-types.ts';
import type { Seen } from '../watch/seen.ts';
import type { EscalationRequest } from './build/builder-types.ts';
import type { Pin } from './rollback-pin.ts';

/** A published generation. */
export interface Live {
  readonly generation: Generation;
  readonly leasable: Leasable;
}

/** A generation that is built and may not serve yet. */
export interface Waiting {
  readonly generation: Generation;
  readonly because: 'grant' | 'duplicate';
}

/** All that is known of one plugin. Only the publisher changes it, in the look queue of the plugin, to what `reduce` says. */
export interface PluginRecord {
  readonly path: string;
  /** The path as people read it. */
  readonly shownPath: string;
  readonly ownerOf: NameRegistry['ownerOf'];
  readonly source: PluginSource;
  readonly lifecycle: Lifecycle;
  readonly enabled: boolean;
  /** The generation that serves, or would serve if the plugin were switched on. */
  readonly chosen: Generation | undefined;
  readonly live: Live | undefined;
  readonly waiting: Waiting | undefined;
  /** What lies on the disk is not built before a person lets it have another engine. */
  readonly escalation: EscalationRequest | undefined;
  readonly seen: Seen | undefined;
  readonly diagnostic: Diagnostic | undefined;
  /** What a rollback turned away from; it holds until a file of it is written again. */
  readonly pinnedAwayFrom: Pin | undefined;
  readonly transitions: readonly TransitionRecord[];
  readonly loadedAtMs: number | undefined;
  readonly lastReloadMs: number | undefined;
}

/** What can become of a plugin, with all that is to be known of it then. */
export type PluginEvent =
  /** What the last run left. */
  | ({ readonly type: 'restored' } & Pick<PluginRecord, 'enabled' | 'chosen' | 'transitions' | 'pinnedAwayFrom'>)
  /** Where it lies on the disk now. */
  | { readonly type: 'located'; readonly source: PluginSource }
  /** What its state was decided on; undefined when the next look is to decide whatever it finds. */
  | { readonly type: 'seen'; readonly seen: Seen | undefined }
  /** Content that was not judged yet lies in the folder. A person who asks ends a rollback. */
  | { readonly type: 'found'; readonly isExplicit?: boolean }
  /** The content of the folder is what counts again, also after a rollback. */
  | { readonly type: 'unpinned' }
  /** A generation is ready: it serves as `live`, or waits for its grant. */
  | { readonly type: 'built'; readonly live: Live; readonly pending: boolean; readonly atMs: number }
  /** A generation is ready whose names belong to another plugin. */
  | { readonly type: 'blocked'; readonly generation: Generation; readonly diagnostic: Diagnostic }
  /** A generation that was ready does not fit beside the others. */
  | { readonly type: 'refused'; readonly diagnostic: Diagnostic }
  /** The content does not build or load. With an escalation it is not built before a person lets it have another engine. */
  | { readonly type: 'failed'; readonly diagnostic: Diagnostic; readonly escalation: EscalationRequest | undefined }
  /** A call asked for another engine. */
  | { readonly type: 'wanted'; readonly escalation: EscalationRequest }
  /** An older generation, or one that was never in the folder, takes the place of its content. */
  | { readonly type: 'rolled-back'; readonly pinnedAwayFrom: Pin | undefined }
  /** Another plugin, which had them first, took the names of its tools. */
  | { readonly type: 'displaced'; readonly diagnostic: Diagnostic }
  /** What a repair had published is taken back, and nothing served before it. */
  | { readonly type: 'recalled' }
  | { readonly type: 'reverted' }
  | { readonly type: 'regranted'; readonly pending: boolean; readonly isHolding: boolean }
  | { readonly type: 'vanished' }
  /** A person switched it off or on; `isWithheld` says that the config keeps it from being loaded even so. */
  | { readonly type: 'switched'; readonly enabled: boolean; readonly isWithheld?: boolean }
  /** The config of the daemon keeps it from being loaded. */
  | { readonly type: 'withheld' }
  | { readonly type: 'quarantined' }
  | { readonly type: 'timed'; readonly lastReloadMs: number };

/** The fields that an event changes. */
type Change = Partial<PluginRecord>;

const keptTransitions = 20;

/** A record of a plugin that nobody has looked into yet. */
export function createPluginRecord(source: PluginSource, { ownerOf }: Pick<NameRegistry, 'ownerOf'>): PluginRecord {
  return {
    path: source.path,
    shownPath: displayPath(source.root, source.path),
    ownerOf,
    source,
    lifecycle: absent,
    enabled: true,
    chosen: undefined,
    live: undefined,
    waiting: undefined,
    escalation: undefined,
    seen: undefined,
    diagnostic: undefined,
    pinnedAwayFrom: undefined,
    transitions: [],
    loadedAtMs: undefined,
    lastReloadMs: undefined,
  };
}

/**
 * The one place that says what of a record an event changes, and what is to be done then. Pure: the same record and event give
 * the same answer.
 */
export function reduce(
  record: PluginRecord,
  event: PluginEvent,
): { readonly change: Change; readonly effects: readonly LifecycleEffect[] } {
  const { lifecycle, facts = {} } = meaningOf(record, event);
  if (lifecycle === undefined) return { change: facts, effects: [] };
  const { next, effects } = transition(record.lifecycle, lifecycle);
  const placed = event.type === 'built' ? placeBuilt(event, effects) : effects.includes('withdraw') && { live: undefined };
  return { change: { lifecycle: next, ...facts, ...placed }, effects };
}

/** Where a generation that is ready stands: nowhere in a plugin that was switched off meanwhile. */
function placeBuilt({ live, atMs }: Extract<PluginEvent, { type: 'built' }>, effects: readonly LifecycleEffect[]): Change {
  const well = { diagnostic: undefined, escalation: undefined };
  if (effects.includes('publish')) return { ...well, live, chosen: live.generation, loadedAtMs: atMs, waiting: undefined };
  return effects.includes('hold') ? { ...well, waiting: { generation: live.generation, because: 'grant' } } : {};
}

/** What an event means for where the plugin stands, which stays as it was without `lifecycle`, and what it says beside that. */
function meaningOf(
  { lifecycle, live }: PluginRecord,
  event: PluginEvent,
): { readonly lifecycle?: LifecycleEvent; readonly facts?: Change } {
  switch (event.type) {
    case 'restored': {
      const { type: _type, ...facts } = event;
      return { facts };
    }
    case 'located':
      return { facts: { source: event.source } };
    case 'seen':
      return { facts: { seen: event.seen } };
    case 'unpinned':
      return { facts: { pinnedAwayFrom: undefined } };
    case 'timed':
      return { facts: { lastReloadMs: event.lastReloadMs } };
    case 'found': {
      const facts = {
        ...(event.isExplicit && { pinnedAwayFrom: undefined }),
        // A quarantined generation must not come back as the last good one of a plugin that is broken now.
        ...(lifecycle.state === 'quarantined' && { chosen: undefined }),
      };
      return { lifecycle: event, facts };
    }
    case 'built':
      return { lifecycle: event };
    case 'blocked': {
      const waiting = { generation: event.generation, because: 'duplicate' } as const;
      return { lifecycle: { type: 'failed' }, facts: { waiting, diagnostic: event.diagnostic, escalation: undefined } };
    }
    case 'refused':
      return { lifecycle: { type: 'failed' }, facts: { diagnostic: event.diagnostic, escalation: undefined } };
    case 'failed': {
      const { diagnostic, escalation } = event;
      // The folder holds something else now than what a rollback turned away from.
      const facts = { diagnostic, escalation, waiting: undefined, pinnedAwayFrom: undefined };
      return { lifecycle: { type: escalation === undefined ? 'failed' : 'held' }, facts };
    }
    case 'wanted':
      return { lifecycle: { type: 'held' }, facts: { escalation: event.escalation } };
    case 'rolled-back':
      return { lifecycle: { type: 'found' }, facts: { pinnedAwayFrom: event.pinnedAwayFrom, waiting: undefined } };
    case 'recalled':
      return { lifecycle: { type: 'displaced' }, facts: { chosen: undefined, waiting: undefined, pinnedAwayFrom: undefined } };
    case 'displaced': {
      const waiting = live && ({ generation: live.generation, because: 'duplicate' } as const);
      return { lifecycle: event, facts: { waiting, diagnostic: event.diagnostic } };
    }
    case 'reverted':
      return { lifecycle: event, facts: { diagnostic: undefined, escalation: undefined, waiting: undefined } };
    case 'switched': {
      const { enabled, isWithheld } = event;
      return { lifecycle: { type: enabled && !isWithheld ? 'enabled' : 'disabled' }, facts: { enabled } };
    }
    case 'withheld':
      return { lifecycle: { type: 'disabled' } };
    case 'regranted':
    case 'vanished':
    case 'quarantined':
      return { lifecycle: event };
  }
}

/** The name of a plugin: the one that it gives itself, if it owns that name, else the one of its file. */
export function nameOfPlugin({ path, source, live, chosen, waiting, ownerOf }: PluginRecord): string {
  const name = (live?.generation ?? chosen ?? waiting?.generation)?.manifest.name;
  return name !== undefined && ownerOf(name) === path ? name : nameFromFile(source.name);
}

/** The transitions of a plugin with one more, without the oldest ones. */
export function addTransition({ transitions }: PluginRecord, added: TransitionRecord): readonly TransitionRecord[] {
  return [...transitions, added].slice(-keptTransitions);
}
