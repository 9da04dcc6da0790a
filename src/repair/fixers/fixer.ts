import type { TextEdit } from '../../typescript/check-types.ts';
import type { TypeChecker } from '../../typescript/checker.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Sureness } from '../repair.ts';

/** A text of the plugin, by its real path. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** A way to change a text; its edits must not overlap. */
export interface Change {
  readonly edits: readonly TextEdit[];
  /** What it changes and why, in one sentence for people. */
  readonly note: string;
  readonly sureness: Sureness;
  /** Other faults of syntax are left: what was meant is not certain before they are gone. */
  readonly isPart?: boolean;
}

/** A change, and what it is one of. */
export interface FileChange extends Change {
  readonly file: TextFile;
}

/** What a fixer may ask beside the diagnosis: all of it is about texts that it hands over. */
export interface FixerParts {
  readonly checker: Pick<TypeChecker, 'inspect' | 'parse'>;
  readonly signal: AbortSignal;
}

/**
 * Proposes changes of a text without asking anybody. Must not read or write files, or touch what the failure does not speak of;
 * returns [] when it has nothing to say. What a change comes to is seen afterwards, but a sure one must be what the author meant
 * whenever it builds.
 */
export type Fixer = (diagnosis: Diagnosis, parts: FixerParts) => readonly FileChange[] | Promise<readonly FileChange[]>;
