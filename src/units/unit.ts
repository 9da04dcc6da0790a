import type { BorderHost } from '../border/border.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import type { Limits } from '../config/limits.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { EngineName, Isolation, Program, RunOutcome, RunRequest } from '../engines/engine.ts';
import type { GrantUse } from '../permissions/select-grants.ts';
import type { Offerings } from './offering.ts';
import type { ToolManifest } from './tool-manifest.ts';

/** What brings tools, one word for each kind. */
export const unitKinds = ['plugin', 'builtin', 'skill', 'hook', 'mcp', 'registered'] as const;

/** One kind of what brings tools. */
export type UnitKind = (typeof unitKinds)[number];

/** Who made a state of a unit. */
export type Author = 'operator' | 'caller' | 'model' | 'repair';

/** What a unit says of itself: nothing of it decides what the unit may do. */
export interface UnitManifest extends Offerings {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly isolation: Isolation;
  readonly limits: Partial<Limits>;
  /** What it asks for. */
  readonly permissions: PermissionSet;
  readonly tools: readonly ToolManifest[];
}

/** One state of whatever brings tools. Another content is another state. */
export interface Unit {
  readonly kind: UnitKind;
  /** The identity of the unit, to which grants, values and names belong: a file, `builtin:eval_code`, `skill:/srv/skills/pdf`. */
  readonly path: string;
  /** The id of this state of the unit; unique over all units. */
  readonly id: string;
  readonly contentHash: string;
  readonly author: Author;
  /** The caller id of an author who is not the operator. */
  readonly writtenBy?: string;
  readonly manifest: UnitManifest;
  readonly runner: Runner;
}

/** Who carries out the calls of a unit. */
export type Runner = EngineRunner | DaemonRunner;

/** An engine runs its program. */
export interface EngineRunner {
  readonly by: 'engine';
  readonly engine: EngineName;
  readonly program: Program;
  /** A `session` or `plugin` cell of an older state hands its JSON state on to the newer one. */
  readonly handsOver: boolean;
  /**
   * Makes of the arguments of a call what its guest gets, as JSON. Throws the HotcellError with which the call ends before its guest
   * begins, or the reason of the signal, which aborts when the call is over.
   */
  readonly prepare?: (run: DaemonRun, user: CapabilityUser | undefined, signal: AbortSignal) => Promise<string>;
}

/** The daemon does it itself: there is no guest, and no other engine for it. */
export interface DaemonRunner {
  readonly by: 'daemon';
  /** Runs one call to its end; rejects only on a fault of the daemon. */
  readonly run: (request: DaemonRun, host: BorderHost, signal: AbortSignal) => Promise<RunOutcome>;
}

/** One call of something that the daemon runs itself. */
export type DaemonRun = Omit<RunRequest, 'program' | 'isolation' | 'cellKey' | 'handOver'>;

/** A unit that serves: calls take a lease, so that a drain knows when the last one ended. */
export interface ServedUnit {
  readonly unit: Unit;
  /** What is granted to it now, within a call when one is given. The same object as long as nothing changed. */
  readonly granted: (use?: GrantUse) => PermissionSet;
  /** Counts a call in; the returned function counts it out. Throws `plugin-not-ready` after the drain deadline. */
  readonly lease: () => () => void;
}

/** Who runs the calls of a unit, as records name it. */
export function nameRunner(runner: Runner): EngineName | 'daemon' {
  return runner.by === 'daemon' ? 'daemon' : runner.engine;
}
