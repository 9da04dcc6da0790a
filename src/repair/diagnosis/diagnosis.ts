import type { Recording } from '../../border/border.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import type { PluginFault, QuotedType } from '../../typescript/check-types.ts';
import type { Failure } from '../failures/failure.ts';
import type { Attempt } from '../repair.ts';

/** The call that failed; values are bounded texts of JSON. */
export interface FailingCall {
  readonly tool: string;
  readonly arguments: string;
  /** What crossed the border, where it was recorded. */
  readonly recording?: Recording;
}

/** A generation that was good, with its texts by real path. */
export interface LastGood {
  readonly generation: number;
  readonly sources: ReadonlyMap<string, string>;
}

/** Everything that is known of a failed plugin when a repair begins; texts are bounded. */
export interface Diagnosis {
  readonly plugin: {
    readonly source: PluginSource;
    readonly name: string;
    /** Of the texts in `sources`: what a repair is written over only while it holds. */
    readonly contentHash: string;
  };
  readonly failure: Failure;
  /** Real path of each file of the plugin's own, to its text; the entry is first. */
  readonly sources: ReadonlyMap<string, string>;
  /** `file` is the real path. Undefined where the language service had no answer. */
  readonly typeErrors: readonly PluginFault[] | undefined;
  readonly declarations: readonly QuotedType[];
  /** The folders that its packages may come from, nearest first. */
  readonly packageDirs: readonly string[];
  /** What lies near it and may have been meant: files by real path, packages by name; both empty unless an import is at fault. */
  readonly nearby: { readonly files: readonly string[]; readonly packages: readonly string[] };
  readonly failingCall?: FailingCall;
  /** The generation that still serves, or the last that did, and the difference from it to `sources`. */
  readonly lastGood?: LastGood & { readonly diff: string };
  /** What was tried before against the same failure. */
  readonly earlierAttempts: readonly Attempt[];
  /** What the source that the plugin names says today; read where a model is asked. */
  readonly sourceToday?: string | undefined;
}
