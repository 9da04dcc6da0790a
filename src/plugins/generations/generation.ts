import type { EngineName } from '../../engines/engine.ts';
import type { EngineRunner, Unit, UnitManifest } from '../../units/unit.ts';

/** One file that went into a build; the signature tells cheaply whether it may have changed. */
export interface BuildInput {
  readonly path: string;
  readonly sha256: string;
  /** `size:mtimeNs:ctimeNs:ino` as of reading. */
  readonly signature: string;
}

/** Why a plugin does not run on the engine that it asks for. */
export interface EscalatedFrom {
  readonly from: EngineName;
  readonly reason: string;
  /** A person let it, and may take that back; otherwise the config did (`escalation: auto`). */
  readonly isGranted?: boolean;
  /** Its own engine can load it; what is missing there showed when it ran. */
  readonly atRun?: true;
}

/** A plugin's default export, read as data and checked. */
export interface PluginManifest extends UnitManifest {
  readonly engine: EngineName;
  /** Whose format the file is written in, when it is not Hotcell's own. */
  readonly shape?: string;
  /** It runs on a higher engine than the one it asks for. */
  readonly climbed?: EscalatedFrom;
  /** `declared`: the plugin has a permissions block; `inferred`: read off its code, shown as such. */
  readonly permissionsSource: 'declared' | 'inferred';
  readonly hooks: { readonly onStart: boolean; readonly onReload: boolean; readonly healthcheck: boolean };
  readonly sourceUrl?: string;
  readonly warnings: readonly string[];
}

/** One build of a plugin. At most one per plugin is current. */
export interface Generation extends Unit {
  readonly kind: 'plugin';
  /** Counts up per plugin from 1. */
  readonly number: number;
  readonly createdAtMs: number;
  /** Another build of the daemon made it: it serves until the same content is built anew. */
  readonly isStale: boolean;
  readonly manifest: PluginManifest;
  readonly inputs: readonly BuildInput[];
  readonly runner: EngineRunner;
}
