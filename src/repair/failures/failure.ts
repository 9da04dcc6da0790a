import type { ErrorCode } from '../../errors/catalog.ts';

/** What kind of failure a plugin has; `repair.mode` of the config is set by class. */
export const failureClasses = [
  'does-not-compile',
  'does-not-load',
  'manifest-invalid',
  'check-failed',
  'runtime-error',
  'limit-reached',
] as const;

/** `check-failed` is the health check or an example. A missing permission is no class: it is asked for, never repaired. */
export type FailureClass = (typeof failureClasses)[number];

/** A failure that is the plugin's own. It belongs to the file, so that a plugin that never loaded has failures too. */
export interface Failure {
  /** The identity of the plugin: the file or folder that was dropped. */
  readonly path: string;
  readonly class: FailureClass;
  /** The same for the same failure: made of the path, the class and the message without what differs each time, not of the line. */
  readonly key: string;
  readonly code: ErrorCode;
  readonly message: string;
  /** Relative to the root folder of the plugin, as in a diagnostic. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly codeFrame?: string;
  readonly fix: string;
  /** The call that showed it, where one did; and how many did in the window that is looked at. */
  readonly executionId?: string;
  readonly tool?: string;
  readonly seen?: number;
}

/** Something failed, and no change of the plugin would help. */
export interface NobodysFault {
  /** Why no repair starts, as a sentence. */
  readonly reason: string;
  /** What helps instead: a permission, time, other arguments, or whoever runs the daemon. */
  readonly helps: 'grant' | 'wait' | 'caller' | 'operator';
}

/** What a failure comes to. */
export type Judged = { readonly failure: Failure } | { readonly nobody: NobodysFault };
