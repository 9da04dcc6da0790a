import type { Duplex } from 'node:stream';
import type { CapabilityUser } from './capability-user.ts';

/**
 * The border: everything that passes between a guest and the host. The guest has one import,
 * `host(op, id, payload, body)`; the operations are data, so capabilities come and go without touching images.
 */

/** What the guest asks. `payload` is JSON text, `body` raw bytes when the operation carries some. */
export interface BorderRequest {
  /** The number of the question, unique in its call; the same again when a suspended call is resumed. */
  readonly id?: number;
  /** It was asked before the call was suspended: whether it was carried out then is not known. */
  readonly again?: true;
  /** Operation such as `fetch`, `kv.get`, `files.read`. */
  readonly op: string;
  readonly payload: string;
  readonly body?: Uint8Array;
}

/** What the host answers. A refusal crosses as an error with a stable code and a sentence without host paths. */
export type BorderAnswer =
  | { readonly ok: true; readonly payload: string; readonly body?: Uint8Array }
  | { readonly ok: false; readonly code: string; readonly message: string };

/**
 * An operation that takes long and for which nothing is computed: a person, a client, another tool or a model is waited for. The
 * call gives its place in the engine up meanwhile. Who may not, since too many do, is refused, or waits `inside`, in its place.
 */
export interface LongWait {
  readonly whenFull: 'refused' | 'inside';
}

/** One crossing of a recording: the request and its answer, in the order of the answers. */
export interface BorderCrossing {
  /** Of the question, counted up in the order in which the guest asked; 0 for what was answered at once. */
  readonly id: number;
  readonly op: string;
  readonly payload: string;
  readonly answer: BorderAnswer;
}

/** Enough to run an execution again. `complete` is false when the recording hit its bound or bytes were left out. */
export interface Recording {
  readonly seed: string;
  readonly startedAtMs: number;
  readonly crossings: readonly BorderCrossing[];
  readonly complete: boolean;
  /** The last lines that the call logged. */
  readonly logs?: readonly LogLine[];
}

/** The answer in a recording to what nobody had answered when the call ended. */
export const unanswered: BorderAnswer = { ok: false, code: 'unanswered', message: 'The call ended before the host answered.' };

/** One line that the guest logged. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
  readonly atMs: number;
  /** It is one of the warnings of the call, too. */
  readonly isWarning?: boolean;
}

/** How far a call is. */
export interface BorderProgress {
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** The host side of one running call. Handed to the engine; the guest reaches nothing else. */
export interface BorderHost {
  /** Carries out one operation. Must not throw or reject: a failure is an answer with `ok: false`. */
  answer(request: BorderRequest, signal: AbortSignal): Promise<BorderAnswer>;
  /** How an operation is waited for, where that takes long. */
  longWait?(operation: string): LongWait | undefined;
  /** Values that the guest may read without waiting, as of now; asked before every slice of the call. */
  view(): BorderView;
  /** Told when the guest read a name of `denied` in its view. Must not throw. */
  deniedName?(name: string): void;
  /** One line of the log, already bounded by the engine. Must not throw. */
  log(line: LogLine): void;
  /** Something that whoever reads the answer has to know: it is logged, and goes with the answer. Must not throw. */
  warn?(text: string): void;
  /** Progress of the call. Must not throw. */
  progress(progress: BorderProgress): void;
  /**
   * Told by engines that know: true when a slice ended and the call waits (host answers, timers), false when it can run
   * again. Without it a call counts as waiting while `answer` has not settled. Must not throw.
   */
  waiting?(isWaiting: boolean): void;
  /**
   * Opens a TCP connection to where the plugin may go, through the one network check: for engines whose guests have network
   * clients of their own. Rejects with a HotcellError whose message may cross to the guest.
   */
  dial?(to: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<Duplex>;
  /** Who the call is for the capabilities: for tools of the daemon itself, which use them without a guest in between. */
  user?(): CapabilityUser;
  /** The caller's workspace and what of it is granted: for engines that hand their guests files. */
  workspace?(): Promise<BorderWorkspace>;
}

/** A folder on this machine; `read` and `write` are granted paths in it, `.` for all of it. */
export interface BorderWorkspace {
  readonly dir: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** What it may hold, and the largest file in it, in bytes; for engines whose guests write by themselves. */
  readonly quotaBytes?: number;
  readonly maxFileBytes?: number;
}

/** Values that `context.config.get` and `context.env.get` answer at once. A key in `denied` answers with a refusal. */
export interface BorderView {
  readonly config: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  /** Names that were asked for and not granted, with the sentence that the guest gets. */
  readonly denied: Readonly<Record<string, string>>;
}
