import { hash } from 'node:crypto';
import type { defaultRepairModes } from '../../config/settings/repair-settings.ts';
import type { ErrorCode } from '../../errors/catalog.ts';

/** How far a plugin gets that builds. */
export const builtStage = 3;

/** What kind of failure a plugin has, and how far it gets with it; `repair.mode` of the config is set by class. */
export const failureStages = {
  'does-not-compile': 0,
  'does-not-load': 1,
  'manifest-invalid': 2,
  'check-failed': builtStage,
  'runtime-error': builtStage,
  'limit-reached': builtStage,
} as const satisfies Readonly<Record<keyof typeof defaultRepairModes, number>>;

/** `check-failed` is the health check or an example. A missing permission is no class: it is asked for, never repaired. */
export type FailureClass = keyof typeof failureStages;

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
  /** The call that showed it, where one did. */
  readonly executionId?: string;
  readonly tool?: string;
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

/** Of a message that failures are told apart by. */
const maxChars = 400;

/** The key by which the same failure is known again: of the file, the class and what the message says, wherever it stands in the text. */
export function failureKey(path: string, failureClass: string, code: string, message: string): string {
  return hash('sha256', [path, failureClass, code, normaliseMessage(message)].join('\0'), 'hex').slice(0, 24);
}

/**
 * A message without what differs from one occurrence to the next: numbers, ids, addresses, and quoted texts that are no names of
 * code. Names stay: an `a` that is not defined is another failure than a `b`.
 */
export function normaliseMessage(message: string): string {
  return message
    .slice(0, 4 * maxChars)
    .replace(/ \(and \d+ more errors?\)/g, '')
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`)]+/gi, '<address>')
    .replace(/"(?:[^"\\\n]|\\.)*"|`[^`\n]*`|(?<!\w)'(?:[^'\\\n]|\\.)*'/g, (quoted) =>
      /^.[\p{ID_Start}$_@./#][\p{ID_Continue}$@./:#-]{0,60}.$/u.test(quoted) && !/\d{3}/.test(quoted)
        ? `'${quoted.slice(1, -1)}'`
        : '<text>',
    )
    .replace(/\b(?=[0-9a-z-]*\d)[0-9a-f]{8}[0-9a-f-]{0,56}\b/gi, '<id>')
    .replace(/(?<![\p{ID_Continue}$])[+-]?\d+(?:[.,:]\d+)*/gu, '0')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxChars);
}
