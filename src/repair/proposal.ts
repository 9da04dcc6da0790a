/** How much a proposal is worth before it was tried: nothing else could have been meant, or something else could. */
export type Sureness = 'sure' | 'maybe';

/** New texts for files of a plugin; nothing of them is on the disk. */
export interface Proposal {
  /** Real path of each file that changes, to its whole new text. */
  readonly files: ReadonlyMap<string, string>;
  /** The name of the fixer or of the model. */
  readonly by: string;
  readonly sureness: Sureness;
  /** What it changes and why, in one sentence for people. */
  readonly note: string;
}
