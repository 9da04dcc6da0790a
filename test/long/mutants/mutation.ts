/** A defence taken out of the sources, and the tests that must notice it. */
export interface Mutation {
  /** What is gone, in a few words. */
  readonly what: string;
  readonly file: string;
  /** A text that stands exactly once in the file, and what it becomes. */
  readonly find: string;
  readonly replace: string;
  /** Test files, as vitest takes them. */
  readonly tests: readonly string[];
}

/** Mutations by the beginning of the promise in docs/threat-model.md that each of them breaks. */
export type MutantsByPromise = Readonly<Record<string, readonly Mutation[]>>;
