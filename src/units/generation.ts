import type { Program } from '../engines/engine.ts';
import type { PluginManifest } from './manifest.ts';

/** Who made a generation. */
export type Author = 'operator' | 'caller' | 'model' | 'repair';

/** One file that went into a build; the signature tells cheaply whether it may have changed. */
export interface BuildInput {
  readonly path: string;
  readonly sha256: string;
  /** `size:mtimeNs:ctimeNs:ino` as of reading. */
  readonly signature: string;
}

/** One build of a plugin. At most one per plugin is current. */
export interface Generation {
  /** Unique over all plugins. */
  readonly id: string;
  readonly pluginPath: string;
  /** Counts up per plugin from 1. */
  readonly number: number;
  readonly author: Author;
  /** The caller id of an author who is not the operator. */
  readonly writtenBy?: string;
  /** Hash over all inputs: same content, same hash. */
  readonly contentHash: string;
  readonly createdAtMs: number;
  readonly manifest: PluginManifest;
  readonly inputs: readonly BuildInput[];
  readonly program: Program;
}
