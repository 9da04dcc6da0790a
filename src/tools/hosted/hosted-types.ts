import type { CapabilityUser } from '../../border/capability-user.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import type { JsonSchema, ToolManifest } from '../../units/tool-manifest.ts';
import type { Author, UnitKind } from '../../units/unit.ts';

/** One call of a hosted tool. */
export interface HostedCall {
  readonly user: CapabilityUser;
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
  /** Writes output of a command into the log of the call, line by line. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void;
}

/** A tool that the daemon itself carries out. `run` fails by throwing a HotcellError whose message may reach the caller. */
export interface HostedTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  readonly tags: readonly string[];
  readonly who: NonNullable<ToolManifest['who']>;
  readonly timeoutMs: number;
  /** `args` fits `input`. */
  readonly run: (args: unknown, call: HostedCall) => Promise<unknown>;
}

/** A set of tools with one name for grants, as a plugin has; what it asks for is granted like a plugin's request. */
export interface HostedUnit {
  /** Unique over all units and plugins: `builtin:eval_code`, `skill:/srv/skills/pdf`. */
  readonly path: string;
  /** What grants are given to, such as `builtin:eval_code`: no plugin can have such a name. */
  readonly name: string;
  readonly kind: Exclude<UnitKind, 'plugin' | 'hook'>;
  readonly version: string;
  readonly description: string;
  /** Of anybody but the operator `run` counts only where it was granted for this very content. */
  readonly author: Author;
  readonly contentHash: string;
  readonly permissions: PermissionSet;
  /** Those that may be called; what it may ask for counts without any. */
  readonly tools: readonly HostedTool[];
}
