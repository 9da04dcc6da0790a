/** A text as it would lie in a folder of its own; nothing else of the machine is seen but the types of the language. */
export interface TypedFile {
  /** A plain name such as `script.ts`. */
  readonly name: string;
  readonly text: string;
}

/** What is to be checked. */
export interface CheckRequest {
  readonly files: readonly TypedFile[];
  /** The file whose JavaScript is wanted, too: with its lines where they were, as far as its syntax allows it. */
  readonly emit?: string;
}

/** What the language says against a file; line and column count from 1. */
export interface TypeDiagnostic {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** As in `TS2551`. */
  readonly code: number;
  readonly message: string;
}

/** What came of a check. */
export interface CheckResult {
  readonly diagnostics: readonly TypeDiagnostic[];
  /** Absent where it was not asked for, or the syntax is wrong. */
  readonly javascript?: string;
}

/** What the thread says: that it can work, and what came of the one check that it has. */
export type FromChecker = { readonly type: 'ready' } | { readonly type: 'checked'; readonly result: CheckResult };
