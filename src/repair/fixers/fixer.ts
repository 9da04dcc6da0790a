import type { TypeChecker } from '../../typescript/checker.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Proposal, Sureness } from '../repair.ts';

/** What a fixer may ask beside the diagnosis: all of it is about texts that it hands over. */
export interface FixerParts {
  readonly checker: Pick<TypeChecker, 'inspect' | 'parse'>;
  readonly signal: AbortSignal;
}

/**
 * Proposes changes of a text without asking anybody. Must not read or write files, or touch what the failure does not speak of;
 * returns [] when it has nothing to say. What a proposal comes to is seen afterwards, but a sure one must be what the author meant
 * whenever it builds.
 */
export interface Fixer {
  readonly name: string;
  /** At best: a proposal of a sure fixer may itself be a `maybe`. */
  readonly sureness: Sureness;
  propose(diagnosis: Diagnosis, parts: FixerParts): readonly Proposal[] | Promise<readonly Proposal[]>;
}
