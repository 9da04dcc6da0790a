/** A text as it would lie in a folder of its own; nothing else of the machine is seen but the types of the language. */
export interface TypedFile {
  /** A plain name such as `script.ts`; of a plugin the real path. */
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

/** A plugin to look into. Beside its own files nothing is read but types: of the language, of the plugin API, and of packages. */
export interface InspectRequest {
  /** All files of the plugin's own; the first is its entry. */
  readonly files: readonly TypedFile[];
  /** The folders that its packages may come from, nearest first; what leads out of them is not read. */
  readonly packageDirs: readonly string[];
  /** The kinds of code fixes that are wanted, as TypeScript names them; none without it. */
  readonly fixNames?: readonly string[];
  /** Whether the declarations of what the errors speak of are wanted. */
  readonly declarations?: boolean;
}

/** A fault of a plugin's file; where it stands counts in UTF-16 units from 0, too. */
export interface PluginFault extends TypeDiagnostic {
  readonly start: number;
  readonly length: number;
  /** Of the syntax: what the types say is not known while there is one in the file. */
  readonly isSyntax: boolean;
}

/** A part of a text, in UTF-16 units, and what stands there instead. */
export interface TextEdit {
  readonly start: number;
  readonly length: number;
  readonly newText: string;
}

/** Variants of one text, of which only the syntax is asked. */
export interface ParseRequest {
  /** Its ending says in which language it is written. */
  readonly name: string;
  readonly text: string;
  /** Each from the end of the text to its beginning. */
  readonly variants: readonly (readonly TextEdit[])[];
}

/** A plugin before and after a change, of which one check is to be as it was. */
export interface RestoreRequest {
  /** Real path of the file with the check. */
  readonly entry: string;
  /** What the check is called there, such as `healthcheck`. */
  readonly name: string;
  readonly before: readonly TypedFile[];
  readonly after: readonly TypedFile[];
}

/** A change that TypeScript offers for a fault; it concerns one file. */
export interface CodeFix {
  readonly fixName: string;
  readonly description: string;
  /** The fault that it is for. */
  readonly fault: PluginFault;
  readonly file: string;
  /** From the end of the file to its beginning. */
  readonly edits: readonly TextEdit[];
}

/** A declaration that an error speaks of, as it stands in its file or as an editor shows it. */
export interface QuotedType {
  readonly name: string;
  readonly text: string;
}

/** What was seen in a plugin. */
export interface InspectResult {
  readonly faults: readonly PluginFault[];
  readonly fixes: readonly CodeFix[];
  readonly declarations: readonly QuotedType[];
}

/** What the thread can be asked, and what comes back. */
export interface CheckerQuestions {
  readonly check: { readonly request: CheckRequest; readonly result: CheckResult };
  readonly inspect: { readonly request: InspectRequest; readonly result: InspectResult };
  /** How many faults of syntax each variant has. */
  readonly parse: { readonly request: ParseRequest; readonly result: readonly number[] };
  readonly restore: { readonly request: RestoreRequest; readonly result: readonly TypedFile[] | undefined };
}

/** One question. The thread says once that it can work, and then what came of each. */
export type ToChecker = {
  [Type in keyof CheckerQuestions]: { readonly type: Type; readonly request: CheckerQuestions[Type]['request'] };
}[keyof CheckerQuestions];
/** What the thread is started for: that alone is read before the first question comes. */
export type CheckerUse = 'check' | 'inspect';
