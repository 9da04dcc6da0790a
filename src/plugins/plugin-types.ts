import type { PermissionSet } from '../config/permission-set.ts';
import type { EngineName } from '../engines/engine.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import type { Author } from '../units/unit.ts';

/** Every state of a plugin. */
export const pluginStates = [
  'absent',
  'loading',
  'ready',
  'pending-grant',
  'degraded',
  'failed',
  'disabled',
  'quarantined',
] as const;

/** Where a plugin stands. Transitions are one pure function in lifecycle.ts. */
export type PluginState = (typeof pluginStates)[number];

/** Why a build failed, with the place in the user's own file. `file` is relative to the plugin's root folder. */
export interface Diagnostic {
  readonly code: ErrorCode;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly codeFrame?: string;
  readonly fix: string;
}

/** A plugin as every door shows it. */
export interface PluginView {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly description: string;
  readonly state: PluginState;
  readonly engine: string;
  /** Whose format the file is written in, when it is not Hotcell's own. */
  readonly shape?: string;
  /** It runs on a higher engine than the one it asks for. */
  readonly climbed?: { readonly from: EngineName; readonly reason: string };
  readonly isolation: string;
  /** Number of the current generation; absent when nothing serves. */
  readonly generation?: number;
  readonly author?: Author;
  readonly contentHash?: string;
  readonly tools: readonly string[];
  /** Names of its prompts; absent without any. */
  readonly prompts?: readonly string[];
  /** Addresses of its resources, and the templates of them; absent without any. */
  readonly resources?: readonly string[];
  readonly diagnostic?: Diagnostic;
  readonly warnings: readonly string[];
  readonly permissions: {
    readonly source: 'declared' | 'inferred';
    readonly requested: PermissionSet;
    readonly granted: PermissionSet;
    readonly pending: PermissionSet;
    /** Granted permissions that were used in the last 30 days; shown for one plugin, not in lists. */
    readonly used?: readonly { readonly permission: string; readonly lastUsedAtMs: number }[];
    /** Granted permissions that nobody ever used, as far as uses are noted. */
    readonly neverUsed?: readonly string[];
    /** Number of a newer generation that waits for what is pending, while an older one serves. */
    readonly waitingGeneration?: number;
  };
  /** The last repair, while it says something of what is there; and why none started. Told by the operations, not by the supervisor. */
  readonly repair?: { readonly id?: string; readonly state: string; readonly reason: string };
  /** What its last health check said. */
  readonly health?: { readonly outcome: string; readonly detail: string; readonly atMs: number };
  readonly loadedAtMs?: number;
  readonly lastReloadMs?: number;
}
