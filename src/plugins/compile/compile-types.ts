import type { EngineNeed } from '../../engines/engine.ts';
import type { EscalationEngine } from '../../engines/escalation.ts';
import type { BuildInput } from '../generations/generation.ts';
import type { Diagnostic } from '../plugin-types.ts';
import type { ProposedTexts } from './read-input.ts';

/** What the compiler knows about the host. */
export interface CompilerOptions {
  /** Folders outside the plugin folders from which plugins may import; absolute. */
  readonly sharedDirs: readonly string[];
  /** Gives the source text (ES module) of each Node built-in that the sandbox has, by name without `node:`. */
  readonly builtins: ReadonlyMap<string, () => Promise<string>>;
  /** The same for built-ins that it does not have, for packages: these load, and refuse each use by name. */
  readonly standIns?: ReadonlyMap<string, () => Promise<string>>;
  /** For built-ins that the sandbox does not have: a sentence that names what to use instead. */
  readonly refusedBuiltins: ReadonlyMap<string, string>;
  /** Gives the source text of what makes plugins of tool files in other shapes; without it there are none. */
  readonly readShapes?: () => Promise<string>;
  /** Gives the source text of Hotcell's own zod, or of a part of it. */
  readonly readOwnZod?: (specifier: string) => Promise<string | undefined>;
}

/**
 * What a bundle is made for. `quickjs`: a script, Node built-ins from shims. The others: an ES module, Node built-ins stay
 * imports of the runtime.
 */
export type CompileTarget = EscalationEngine;

/** One plugin to compile. All paths are absolute. */
export interface CompileRequest {
  /** The entry file. */
  readonly entry: string;
  /** The plugin folder that the operator configured. */
  readonly rootDir: string;
  /** The folder of the plugin; equals `rootDir` for a single file. */
  readonly pluginDir: string;
  /** All of `pluginDir` is the plugin's own; otherwise its entry is, and the rest of the folder belongs to other plugins. */
  readonly isFolder: boolean;
  /** `quickjs` when left out. */
  readonly target?: CompileTarget;
  /** Makes a plugin of a tool file in another shape: libraries that only describe tools are replaced by stand-ins. */
  readonly isAdapted?: boolean;
  /** For a look at what the file exports: built-ins that the target does not have are there, and do nothing. */
  readonly isTrial?: boolean;
  readonly proposed?: ProposedTexts | undefined;
  readonly signal?: AbortSignal;
  /** Told of the plugin's own files while the bundler works, where these are known before it is done. Must not throw. */
  readonly onSources?: (sources: readonly SourceFile[]) => void;
}

/** One of the plugin's own files as it was read; `path` is relative to the root folder, with `/`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The result of one build. `inputs` is there on failure too, so that a fix in a helper triggers the next try. */
export type CompileResult =
  | {
      readonly ok: true;
      /** A script that puts the module namespace on `globalThis.__hotcellExports`, or an ES module (see CompileTarget). */
      readonly code: string;
      /** Source map without contents; `sources` are relative to the root folder. */
      readonly sourceMap: string;
      readonly inputs: readonly BuildInput[];
      /** Hash over all inputs: same content, same hash. */
      readonly contentHash: string;
      /** The plugin's own files, with those that only lend types; files of packages are left out. */
      readonly sources: readonly SourceFile[];
      readonly warnings: readonly string[];
    }
  | (BuildFailure & {
      /** What alone kept it from being compiled for its target, when another engine may have that. */
      readonly needs?: readonly EngineNeed[];
    });

/** Why there is no build. */
export interface BuildFailure {
  readonly ok: false;
  readonly diagnostic: Diagnostic;
  readonly inputs: readonly BuildInput[];
  /** Paths that imports looked for and did not find; one of them appearing is a reason for the next try. */
  readonly missing: readonly string[];
  /** The machine could not do it just now; the same content is worth another try. */
  readonly isPassing?: boolean;
}

/** Bundles plugins with all they import, reading only what they may read. */
export interface Compiler {
  /** Rejects only with the reason of an aborted signal, or on a fault of the bundler itself. */
  compile(request: CompileRequest): Promise<CompileResult>;
  close(): Promise<void>;
}
