import type { PermissionSet } from '../../config/permission-set.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import type { Generation } from '../../plugins/generations/generation.ts';
import type { BuildOutcome } from '../../plugins/supervisor/build/builder-types.ts';
import type { Failure } from '../failures/failure.ts';
import type { Proposal } from '../repair.ts';

/** What a proposal was asked, in the order in which it is asked. */
export const trialChecks = [
  'compiles',
  'types',
  'shape',
  'tools',
  'schemas',
  'permissions',
  'examples',
  'healthcheck',
  'failing-call',
  'earlier-calls',
  'time',
] as const;

/** One of them. `not-tried` is neither for nor against the proposal. */
export interface TrialCheck {
  readonly name: (typeof trialChecks)[number];
  readonly outcome: 'passed' | 'failed' | 'not-tried';
  /** A sentence for people and models. */
  readonly detail: string;
  /** How the proposed text itself fails it, also where that is not held against it. */
  readonly fault?: string;
  /** It may have failed for want of what a trial has not. */
  readonly wasRefused?: boolean;
}

/**
 * What came of a trial. `mended`: the failure is gone and nothing that worked is lost. `not-mended`: it is there still, or nothing
 * could show that it is gone. `worse`: something that worked does not any more. `asks-for-more`: it would need what a person decides.
 */
export interface TrialReport {
  readonly verdict: 'mended' | 'not-mended' | 'worse' | 'asks-for-more';
  readonly checks: readonly TrialCheck[];
  /** What of its permissions the plugin did not ask for before; with `asks-for-more`. */
  readonly more?: PermissionSet;
  /** The very build that was tried; absent where it does not build. */
  readonly candidate?: Candidate;
}

/** A build that was tried and is not published. */
export interface Candidate {
  readonly build: Extract<BuildOutcome, { ok: true }>;
  /** Forgets its cells, unless a kept generation is the same program. For whoever does not publish it; may be called twice. */
  release(): void;
}

/** What is tried. */
export interface TrialRequest {
  readonly source: PluginSource;
  readonly proposal: Proposal;
  /**
   * Its tools, schemas, permissions, examples, health check and recordings are what the proposal is measured by: the generation in
   * which the failure was diagnosed, or the last good one of a plugin that does not build. Absent when there was never one.
   */
  readonly diagnosed: Generation | undefined;
  /** What it is to mend: known again by its key; with an `executionId` that call is replayed, of a check with a `tool` it is an example. */
  readonly failure: Pick<Failure, 'class' | 'key' | 'executionId' | 'tool'>;
  readonly signal: AbortSignal;
}

/** Tries a proposal in cells of its own, where nothing real is touched. Rejects when the signal aborts, or on a fault of the daemon. */
export type TryProposal = (request: TrialRequest) => Promise<TrialReport>;

type Name = TrialCheck['name'];
export const passed = (name: Name, detail: string): TrialCheck => ({ name, outcome: 'passed', detail });
export const failed = (name: Name, detail: string): TrialCheck => ({ name, outcome: 'failed', detail });
export const notTried = (name: Name, detail: string): TrialCheck => ({ name, outcome: 'not-tried', detail });
