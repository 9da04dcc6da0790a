import type { BorderProgress } from '../../border/border.ts';
import type { CapabilityUser } from '../../border/capability-user.ts';
import type { Limits } from '../../config/limits.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import type { OfferingManifest } from '../../units/offering.ts';
import type { JsonSchema, ToolFlags, ToolManifest } from '../../units/tool-manifest.ts';
import type { Author, EngineRunner, UnitKind } from '../../units/unit.ts';

/** One call of a hosted tool. */
export interface HostedCall {
  readonly user: CapabilityUser;
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
  /** Writes output of a command into the log of the call, line by line. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void;
  /** Tells how far it is. */
  readonly onProgress: (progress: BorderProgress) => void;
}

/**
 * A tool that the daemon itself carries out, and what is said of it: as of a tool of a plugin, with the usual where nothing is
 * said. `run` fails by throwing a HotcellError whose message may reach the caller.
 */
export interface HostedTool extends Partial<Omit<ToolManifest, 'handler' | 'inputSource' | 'checkedByPlugin' | 'flags'>> {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  /** `on` for built-ins, `auto` for what else there is, when absent. */
  readonly mode?: ToolManifest['mode'];
  readonly timeoutMs: number;
  readonly flags?: Partial<ToolFlags>;
  /** `args` fits `input`. */
  readonly run: (args: unknown, call: HostedCall) => Promise<unknown>;
}

/** A prompt or a resource that the daemon itself answers. */
export interface HostedOffering {
  readonly manifest: OfferingManifest;
  /** Carries out its calls, and the completions of its arguments, by the names of their handlers. */
  readonly handlers: Readonly<Record<string, HostedTool['run']>>;
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
  /** Who wrote it: `run` of anybody but the operator counts only where it was granted for this very content. */
  readonly author: Author;
  /** The caller id of an author who is not the operator. */
  readonly writtenBy?: string;
  /** The hash of everything that the unit says of itself and its tools: another one is another state, and what was granted is asked for again. */
  readonly contentHash: string;
  readonly permissions: PermissionSet;
  /** What its calls may have where it is not the usual; nobody is asked. */
  readonly limits?: Partial<Limits>;
  /** The tools that may be called; what the unit may ask for counts without any. */
  readonly tools: readonly HostedTool[];
  readonly offerings?: readonly HostedOffering[];
}

/** Tools of the daemon that an engine runs. */
export interface EngineUnit extends Omit<HostedUnit, 'tools' | 'permissions'> {
  readonly tools: readonly Omit<HostedTool, 'run'>[];
  readonly runner: EngineRunner;
  /** What it has without anybody's grant: always the same object. */
  readonly granted: PermissionSet;
}
