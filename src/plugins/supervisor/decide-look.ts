import type { PluginRecord } from './plugin-record.ts';

/** What is known before anything is built. */
export interface LookFacts {
  readonly record: Pick<PluginRecord, 'lifecycle' | 'waiting' | 'pinnedAwayFrom' | 'escalation'>;
  /** Whether the files are what the present state was decided on; undefined when it was decided on nothing yet. */
  readonly files: 'same' | 'touched' | 'changed' | undefined;
  /** The writing that a rollback turned away from is still the last one. */
  readonly isPinHolding: boolean;
  /** The names that a waiting generation lacked are free. */
  readonly isUnblocked: boolean;
  /** A person asked. */
  readonly isExplicit: boolean;
}

/** What a look at a plugin comes to: its content is built, a generation that waited is offered, or all stays as it is. Pure. */
export function decideLook(facts: LookFacts): 'build' | 'offer-waiting' | 'nothing' {
  const { record, files, isPinHolding, isUnblocked, isExplicit } = facts;
  const { lifecycle, waiting, pinnedAwayFrom, escalation } = record;
  if (files === undefined || files === 'changed') return 'build';
  if (pinnedAwayFrom !== undefined && !isPinHolding) return 'build';
  if (waiting !== undefined && isUnblocked) return 'offer-waiting';
  if (!isExplicit) return 'nothing';
  // Who asks gets another try of what failed, was turned away from or waits for an engine.
  const isWell = lifecycle.state === 'ready' || lifecycle.state === 'pending-grant';
  return isWell && pinnedAwayFrom === undefined && escalation === undefined ? 'nothing' : 'build';
}
