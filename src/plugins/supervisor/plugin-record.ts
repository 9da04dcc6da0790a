import type { NameBook } from '../../names/name-owners.ts';
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
import type { Pin } from './pin.ts';

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
  readonly ownerOf: NameBook['ownerOf'];
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
  /** A generation is ready to serve: it was published as `live`, or waits for its grant. */
  | {
      readonly type: 'built';
      readonly generation: Generation;
      readonly pending: boolean;
      readonly live: Live | undefined;
      readonly atMs: number;
    }
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
export function createPluginRecord(source: PluginSource, { ownerOf }: Pick<NameBook, 'ownerOf'>): PluginRecord {
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
  const lifecycleEvent = lifecycleEventOf(event);
  if (lifecycleEvent === undefined) return { change: factsOf(record, event), effects: [] };
  const { next, effects } = transition(record.lifecycle, lifecycleEvent);
  const isTaken = event.type !== 'built' || effects.length > 0;
  const withdrawn = effects.includes('withdraw') ? { live: undefined } : {};
  return { change: { lifecycle: next, ...(isTaken && factsOf(record, event)), ...withdrawn }, effects };
}

/** What an event means for where the plugin stands; undefined where it stands as before. */
function lifecycleEventOf(event: PluginEvent): LifecycleEvent | undefined {
  switch (event.type) {
    case 'restored':
    case 'located':
    case 'seen':
    case 'unpinned':
    case 'timed':
      return undefined;
    case 'built':
      return { type: 'built', pending: event.pending };
    case 'blocked':
    case 'refused':
      return { type: 'failed' };
    case 'failed':
      return { type: event.escalation === undefined ? 'failed' : 'held' };
    case 'wanted':
      return { type: 'held' };
    case 'rolled-back':
      return { type: 'found' };
    case 'recalled':
      return { type: 'displaced' };
    case 'switched':
      return { type: event.enabled && !event.isWithheld ? 'enabled' : 'disabled' };
    case 'withheld':
      return { type: 'disabled' };
    default:
      return event;
  }
}

/** What an event says of a plugin beside where it stands. */
function factsOf({ lifecycle, live }: PluginRecord, event: PluginEvent): Change {
  switch (event.type) {
    case 'restored': {
      const { type: _type, ...left } = event;
      return left;
    }
    case 'located':
      return { source: event.source };
    case 'seen':
      return { seen: event.seen };
    case 'found':
      return {
        ...(event.isExplicit && { pinnedAwayFrom: undefined }),
        // A quarantined generation must not come back as the last good one of a plugin that is broken now.
        ...(lifecycle.state === 'quarantined' && { chosen: undefined }),
      };
    case 'unpinned':
      return { pinnedAwayFrom: undefined };
    case 'built':
      return { ...publicationOf(event), diagnostic: undefined, escalation: undefined };
    case 'blocked':
      return {
        waiting: { generation: event.generation, because: 'duplicate' },
        diagnostic: event.diagnostic,
        escalation: undefined,
      };
    case 'refused':
      return { diagnostic: event.diagnostic, escalation: undefined };
    case 'failed':
      // The folder holds something else now than what a rollback turned away from.
      return { diagnostic: event.diagnostic, escalation: event.escalation, waiting: undefined, pinnedAwayFrom: undefined };
    case 'wanted':
      return { escalation: event.escalation };
    case 'rolled-back':
      return { pinnedAwayFrom: event.pinnedAwayFrom, waiting: undefined };
    case 'recalled':
      return { chosen: undefined, waiting: undefined, pinnedAwayFrom: undefined };
    case 'displaced':
      return {
        waiting: live && { generation: live.generation, because: 'duplicate' },
        diagnostic: event.diagnostic,
      };
    case 'reverted':
      return { diagnostic: undefined, escalation: undefined, waiting: undefined };
    case 'switched':
      return { enabled: event.enabled };
    case 'timed':
      return { lastReloadMs: event.lastReloadMs };
    case 'regranted':
    case 'vanished':
    case 'withheld':
    case 'quarantined':
      return {};
  }
}

function publicationOf({ generation, live, atMs }: Extract<PluginEvent, { type: 'built' }>): Change {
  if (live === undefined) return { waiting: { generation, because: 'grant' } };
  return { live, chosen: generation, loadedAtMs: atMs, waiting: undefined };
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
