import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Proposal, Sureness } from '../proposal.ts';

/**
 * Proposes changes of a text without asking anybody. Must not throw, read or write files, or touch what the failure does not speak
 * of; returns [] when it has nothing to say.
 */
export interface Fixer {
  readonly name: string;
  /** At best: a proposal of a sure fixer may itself be a `maybe`. */
  readonly sureness: Sureness;
  propose(diagnosis: Diagnosis): readonly Proposal[] | Promise<readonly Proposal[]>;
}
