import type { PermissionSet } from '../../config/permission-set.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';

/** One file of a plugin; `path` is relative to the plugin's root folder, with `/`. */
export interface SchemaFile {
  readonly path: string;
  readonly text: string;
}

/** What the daemon asks its reading process. */
export interface ReadRequest {
  readonly id: number;
  readonly files: readonly SchemaFile[];
  readonly entry: string;
}

/** What the source tells about one handler. */
export interface InferredHandler {
  /** Schema of the first parameter; absent when it has no type, or one that says nothing. */
  readonly input?: JsonSchema;
  /** It has no parameter at all, so there is nothing to describe. */
  readonly takesNothing?: true;
  /** Types that could not be said in a schema, each named. */
  readonly warnings: readonly string[];
  /** The doc comment of the handler. */
  readonly description?: string;
}

/** A place in the entry file, 1-based. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** What can be read off a plugin's source without running it. */
export interface SchemaReadResult {
  /** By the key that engines know a handler by: `default`, or the key in `tools`. */
  readonly handlers: Readonly<Record<string, InferredHandler>>;
  /** Hosts of literal URLs, names of config and env values, uses of the context: a request, shown as inferred. */
  readonly permissions: PermissionSet;
  /** Where keys of the plugin object stand in the entry, by dotted path such as `tools.add.timeoutMs`. */
  readonly positions: Readonly<Record<string, SourcePosition>>;
  /** The literal `engine` of the plugin object, for which the code must be built. */
  readonly engine?: string;
  /** The literal `name` of the plugin object. */
  readonly name?: string;
  /** The entry that `positions` are about. */
  readonly entry?: SchemaFile;
  /** The address in a leading `// @source: URL` comment. */
  readonly sourceUrl?: string;
  /** A sentence about variables that are read while the file loads; it is one of the warnings, too. */
  readonly earlyReads?: string;
  readonly warnings: readonly string[];
}

/** Reads sources in a process of its own, so that no text can hold up or bring down the daemon. */
export interface SchemaReader {
  /** Starts the process ahead of the first plugin. */
  warm(): void;
  /**
   * Reads the files of one plugin. Never rejects: what could not be read in time, or at all, is a warning in an
   * otherwise empty result.
   */
  read(files: readonly SchemaFile[], entry: string): Promise<SchemaReadResult>;
  close(): Promise<void>;
}

/** The result when nothing can be told. */
export function emptyReadResult(...warnings: string[]): SchemaReadResult {
  return { handlers: {}, permissions: {}, positions: {}, warnings };
}
