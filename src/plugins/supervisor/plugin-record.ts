import type { NameBook } from '../../permissions/name-book.ts';
import { nameFromFile } from '../discovery/entry-names.ts';
import type { PluginSource } from '../discovery/plugin-source.ts';
import type { Generation } from '../generations/generation.ts';
import type { Leasable } from '../generations/leases.ts';
import { absent, type Lifecycle } from '../lifecycle.ts';
import type { Diagnostic } from '../plugin-types.ts';
import type { TransitionRecord } from '../supervisor-types.ts';
import type { Seen } from '../watch/seen.ts';
import type { EscalationRequest } from './builder-types.ts';
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

/** All that is known of one plugin. Changed in its look queue alone. */
export interface PluginRecord {
  readonly path: string;
  readonly ownerOf: NameBook['ownerOf'];
  source: PluginSource;
  lifecycle: Lifecycle;
  enabled: boolean;
  /** The generation that serves, or would serve if the plugin were switched on. */
  chosen: Generation | undefined;
  live: Live | undefined;
  waiting: Waiting | undefined;
  /** What lies on the disk is not built before a person lets it have another engine. */
  escalation: EscalationRequest | undefined;
  seen: Seen | undefined;
  diagnostic: Diagnostic | undefined;
  /** What a rollback turned away from; it holds until a file of it is written again. */
  pinnedAwayFrom: Pin | undefined;
  transitions: readonly TransitionRecord[];
  loadedAtMs: number | undefined;
  lastReloadMs: number | undefined;
}

const keptTransitions = 20;

/** A record of a plugin that nobody has looked into yet. */
export function createPluginRecord(source: PluginSource, { ownerOf }: Pick<NameBook, 'ownerOf'>): PluginRecord {
  return {
    path: source.path,
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

/** The name of a plugin: the one that it gives itself, if it owns that name, else the one of its file. */
export function nameOfPlugin({ path, source, live, chosen, waiting, ownerOf }: PluginRecord): string {
  const name = (live?.generation ?? chosen ?? waiting?.generation)?.manifest.name;
  return name !== undefined && ownerOf(name) === path ? name : nameFromFile(source.name);
}

/** Adds a transition, and forgets the oldest ones. */
export function addTransition(record: PluginRecord, transition: TransitionRecord): void {
  record.transitions = [...record.transitions, transition].slice(-keptTransitions);
}
