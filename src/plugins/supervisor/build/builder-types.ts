import type { EngineName, EngineNeed } from '../../../engines/engine.ts';
import type { EscalationEngine } from '../../../engines/escalation.ts';
import type { Asking } from '../../../permissions/grant-registry.ts';
import type { Author } from '../../../units/unit.ts';
import type { BuildFailure } from '../../compile/compile-types.ts';
import type { ProposedTexts } from '../../compile/read-input.ts';
import type { PluginSource } from '../../discovery/plugin-source.ts';
import type { Artifacts } from '../../generations/artifact-files.ts';
import type { BuildInput, PluginManifest } from '../../generations/generation.ts';
import type { Diagnostic } from '../../plugin-types.ts';
import type { SchemaReadResult } from '../../schema/schema-types.ts';

/** What a build came to. `inputs` and `missing` are there on failure too: a change of either is worth another try. */
export type BuildOutcome =
  | {
      readonly ok: true;
      readonly contentHash: string;
      readonly inputs: readonly BuildInput[];
      readonly manifest: PluginManifest;
      readonly artifacts: Artifacts;
      /** Under which the engine knows what was loaded. */
      readonly programKey: string;
    }
  | (BuildFailure & {
      /** It would build for a higher engine, if a person let it. */
      readonly escalation?: EscalationRequest;
    });

/** One compiled plugin, before anything of it ran. */
export interface Compiled {
  readonly ok: true;
  readonly engine: EngineName;
  readonly contentHash: string;
  readonly inputs: readonly BuildInput[];
  readonly artifacts: Artifacts;
  readonly warnings: readonly string[];
  /** It is a tool file in another shape, made a plugin of. */
  readonly isAdapted: boolean;
  /** What is read off its source, where that began while it was bundled. */
  readonly inferred?: Promise<SchemaReadResult> | undefined;
}

/** Why nothing was compiled, or what was did not load. */
export type NotCompiled = BuildFailure & {
  readonly needs?: readonly EngineNeed[];
  /** What was said of a file in another shape that no tool was found in. */
  readonly advice?: Pick<Diagnostic, 'message' | 'fix'> | undefined;
};

/** A build that asks for a higher engine, and why. */
export interface EscalationRequest extends Asking {
  readonly reason: string;
  readonly permissionsSource: PluginManifest['permissionsSource'];
  /** Its own engine serves on until then. */
  readonly atRun?: true;
}

/** Whose build it is. */
export interface BuildOptions {
  readonly author?: Author;
  /** Texts to be built instead of those on the disk: the build is thrown away. */
  readonly proposed?: ProposedTexts | undefined;
  /** The engine that calls of it asked for, to be had when a person let it. */
  readonly wanted?: { readonly engine: EscalationEngine; readonly reason: string } | undefined;
}

/** Compiles a plugin, evaluates it with no capability and reads its manifest. */
export interface PluginBuilder {
  /** Rejects only when the signal aborts or a part of the daemon is at fault. */
  build(source: PluginSource, signal: AbortSignal, options?: BuildOptions): Promise<BuildOutcome>;
  /** Compiles alone, for code that the disk has lost or that another engine is to run; undefined when it does not compile. */
  compileOnly(
    source: PluginSource,
    how: Pick<PluginManifest, 'engine' | 'shape'>,
  ): Promise<{ contentHash: string; artifacts: Artifacts } | undefined>;
}
