import type { SourceReading } from './read-result.ts';

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

/** What can be read off a plugin's source without running it. */
export interface SchemaReadResult extends SourceReading {
  /** The entry that `positions` are about. */
  readonly entry?: SchemaFile;
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
