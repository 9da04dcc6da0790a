import type { PluginSource } from '../discovery/plugin-source.ts';
import type { Artifacts } from '../generations/artifact-files.ts';
import type { PluginManifest } from '../manifest-types.ts';
import type { BuildInput, Diagnostic } from '../plugin-types.ts';

/** What a build came to. `inputs` and `missing` are there on failure too: a change of either is worth another try. */
export type BuildOutcome =
  | {
      readonly ok: true;
      readonly contentHash: string;
      readonly inputs: readonly BuildInput[];
      readonly manifest: PluginManifest;
      readonly artifacts: Artifacts;
    }
  | {
      readonly ok: false;
      readonly diagnostic: Diagnostic;
      readonly inputs: readonly BuildInput[];
      /** Files that were looked for and not found. */
      readonly missing: readonly string[];
    };

/** Compiles a plugin, evaluates it with no capability and reads its manifest. */
export interface PluginBuilder {
  /** Rejects only when the signal aborts or a part of the daemon is at fault. */
  build(source: PluginSource, signal: AbortSignal): Promise<BuildOutcome>;
  /** Compiles alone, for code that the disk has lost. */
  compileOnly(source: PluginSource): Promise<{ contentHash: string; code: string | Uint8Array } | undefined>;
}
