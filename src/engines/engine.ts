import type { BorderCrossing, BorderHost, Recording } from '../border/border.ts';
import type { Holder } from '../concurrency/place-count.ts';
import type { engineNames } from '../config/engine-names.ts';
import type { Limits } from '../config/limits.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import type { Deadline } from './deadline.ts';
import type { GuestIssue } from './throw-report.ts';

/** What runs a cell. */
export type EngineName = (typeof engineNames)[number];

/** How long a cell lives: one call, one session, or as long as the generation. */
export type Isolation = 'call' | 'session' | 'plugin';

/**
 * What an engine needs to start cells of one generation. `key` is unique for code and engine; an engine may cache by it.
 * The readers are called when the engine has nothing cached, so a thousand idle plugins cost no memory.
 */
export interface Program {
  readonly key: string;
  /** The plugin's name for diagnostics. */
  readonly label: string;
  /** JavaScript text for `quickjs`, module bytes for `extism`. */
  readonly readCode: () => Promise<string | Uint8Array>;
  /** The image as `load` returned it, or undefined when there is none that matches its hash. */
  readonly readImage: () => Promise<Uint8Array | undefined>;
  /** Called by an engine that had to build the image again. Must not throw. */
  readonly saveImage: (image: Uint8Array) => void;
}

/** A position in code, 1-based line and column. Before mapping `file` is the name of the bundle. */
export interface StackFrame {
  readonly functionName?: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A failure inside a cell, in facts that hold no host path and no host stack. */
export interface GuestError {
  readonly code: ErrorCode;
  readonly message: string;
  /** A next step that is closer than the usual one of the code. */
  readonly fix?: string;
  /** The class that the guest threw, such as TypeError. */
  readonly name?: string;
  /** The built-in of Node that the code reached for last, and that its engine does not have. */
  readonly lacks?: string;
  readonly frames: readonly StackFrame[];
  /** With `arguments-invalid` and `output-invalid`: what the plugin's own schema says. */
  readonly issues?: readonly GuestIssue[];
}

/**
 * What a module exports as data: `{ default, named }`, in which functions are replaced by `{"$function": true}`, see
 * docs/plugin-format.md.
 */
export type LoadResult =
  | {
      readonly ok: true;
      readonly exported: unknown;
      readonly image?: Uint8Array;
      /** The key of the program that came of it, where that is not the one that was asked with. */
      readonly programKey?: string;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly error: GuestError };

/** What a run takes from an earlier one: it is nobody's call, and nothing that happens in it counts against its program. */
export interface EarlierRun {
  /** As its recording has it; empty where there is none. */
  readonly seed: string;
  readonly startedAtMs: number;
  /**
   * What its guest was answered at once, in its order: time, chance, settings. Settings that are not among it are refused, time goes
   * on from there. Absent for a run of its own time and chance.
   */
  readonly answered?: readonly BorderCrossing[];
}

/** One call. */
export interface RunRequest {
  readonly executionId: string;
  readonly program: Program;
  /** The tool inside the plugin: `default` for a plugin with a single handler, else its key in `tools`. */
  readonly handler: string;
  /** Arguments as JSON text, validated. */
  readonly argumentsJson: string;
  readonly isolation: Isolation;
  /** Which cell a `session` or `plugin` call shares; ignored for `call`. */
  readonly cellKey: string;
  readonly limits: Limits;
  /** When the call must be over; it stands still while a person is asked. Ask it again when a timer fires. */
  readonly deadline: Deadline;
  readonly caller: string;
  readonly session: string;
  /** For whom it takes a place of the engine. */
  readonly holder: Holder;
  /** The plugin has `onReload`: a `session` or `plugin` cell of an older generation hands its JSON state on. */
  readonly handOver?: boolean;
  /** It runs the way of an earlier one. Only with isolation `call`. */
  readonly earlier?: EarlierRun;
  /** A function of the plugin to run instead of the handler; only engines whose plugins have it. */
  readonly hook?: 'healthcheck';
}

/** How a call ended. `output` is what the handler returned: text stays text. */
export type RunOutcome =
  | {
      readonly status: 'success';
      readonly output: unknown;
      /** The same output as JSON text, when the engine has it at hand: spares another stringify. */
      readonly outputJson?: string;
      readonly recording?: Recording;
      readonly usage: RunUsage;
    }
  | {
      readonly status: 'error' | 'timeout' | 'cancelled';
      readonly error: GuestError;
      readonly recording?: Recording;
      readonly usage: RunUsage;
    };

/** What a call used. */
export interface RunUsage {
  readonly cpuMs: number;
  readonly hostCalls: number;
  readonly logLines: number;
}

/** Of a run that did not begin. */
export const noUsage: RunUsage = Object.freeze({ cpuMs: 0, hostCalls: 0, logLines: 0 });

/** What an engine starts a generation from. */
export interface LoadRequest {
  readonly key: string;
  readonly label: string;
  readonly code: string | Uint8Array;
  readonly limits: Limits;
}

/** What code wants that not every engine has. `builtin` is a name of Node's own modules, without `node:`. */
export type EngineNeed =
  | { readonly kind: 'global'; readonly name: string }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'processes'; readonly name: string }
  | { readonly kind: 'native-addon' };

/** What an engine of TypeScript and JavaScript is for plugins that want more than the one below it has. */
export interface ScriptTraits {
  readonly carries: readonly EngineNeed['kind'][];
  /** What a person lets happen who allows it. */
  readonly brings: string;
  /** It compiles JavaScript to machine code: the same call takes less time, and often less memory. */
  readonly compiles: boolean;
}

/** Runs cells. Which engine ran a call is a detail: every engine keeps the same limits, records and refusals. */
export interface Engine {
  readonly name: EngineName;
  /** Only of engines between which plugins move. */
  readonly script?: ScriptTraits;
  /** Why nothing can run on it now, such as what to install: whole sentences. Absent where it is always there. */
  findMissing?(): Promise<string | undefined>;
  /** Evaluates code with no capability and returns the default export as data. Rejects only on a fault of the engine. */
  load(request: LoadRequest): Promise<LoadResult>;
  /** Runs one call to its end. Rejects only on a fault of the engine; aborting `signal` ends it as `cancelled`. */
  run(request: RunRequest, host: BorderHost, signal: AbortSignal): Promise<RunOutcome>;
  /**
   * Takes what a waiting call is out as bytes, from which `resume` goes on in this or a later process, in this or another
   * worker; the call itself goes on waiting. Undefined when the call does not wait just now. Only engines that can.
   */
  suspend?(executionId: string): Promise<Uint8Array | undefined>;
  /**
   * Goes on with a suspended call: its open questions are asked of `host` again under the ids that they had. Rejects with
   * `interrupted` when the bytes do not fit the program any more.
   */
  resume?(request: RunRequest, suspended: Uint8Array, host: BorderHost, signal: AbortSignal): Promise<RunOutcome>;
  /** Gets ready for a first call, told when plugins of this engine are there. Must not throw. */
  warm?(): void;
  /** Forgets the cells of a cell key, or all of a program. */
  discard(target: { readonly cellKey?: string; readonly programKey?: string }): void;
  close(): Promise<void>;
}
