import { type ErrorCode, errorCatalog, isErrorCode } from '../errors/catalog.ts';
import type { GuestError, StackFrame } from './engine.ts';
import { findIssueCode, type ThrowReport } from './throw-report.ts';

const FRAME = /^\s*at (?:(.*?) )?\(?([^()\s]+?):(\d+)(?::(\d+))?\)?$/;
const maxFrames = 20;
/** A longer line is no frame: reading it would only cost time. */
const maxLineChars = 500;

/** Refusals of the host that a handler may let through: they keep their code. */
const refusalCodes: ReadonlySet<string> = new Set([
  'permission-denied',
  'resource-unknown',
  'not-supported',
  'client-cannot',
  'rate-limited',
  'queue-full',
  'payload-too-large',
  'docker-missing',
  'image-refused',
  'image-missing',
  'image-changed',
  'command-missing',
]);

/** What plugins written for Node look for, and what is there instead. */
const insteadOf: ReadonlyMap<string, string> = new Map([
  ['require', 'Use import, or module.exports and require in a .cjs file.'],
  ['document', 'There is no page here.'],
  ['window', 'Use globalThis.'],
]);

/** Turns what the guest reported into a failure with a code of the catalog. */
export function toGuestError(report: ThrowReport, fallback: ErrorCode): GuestError {
  return {
    code: findCode(report, fallback),
    message: describe(report),
    ...(report.name && report.name !== 'Error' ? { name: report.name } : {}),
    ...(report.lacks === undefined ? {} : { lacks: report.lacks }),
    frames: parseStack(report.stack ?? ''),
    ...(report.issues === undefined ? {} : { issues: report.issues }),
  };
}

/** Reads the stack of the guest; frames of the prelude and of the engine itself are left out. */
export function parseStack(stack: string): StackFrame[] {
  const frames: StackFrame[] = [];
  for (const line of stack.split('\n')) {
    if (frames.length >= maxFrames) break;
    const match = line.length > maxLineChars ? null : FRAME.exec(line);
    if (!match) continue;
    const [, functionName, file = '', row = '1', column = '1'] = match;
    if (file === 'native' || file === 'prelude.js') continue;
    // The guest can write its stack itself: a place that no file has is none.
    if (!isPlace(Number(row)) || !isPlace(Number(column))) continue;
    const named = functionName && functionName !== '<anonymous>' ? { functionName } : {};
    frames.push({ ...named, file, line: Number(row), column: Number(column) });
  }
  return frames;
}

function isPlace(position: number): boolean {
  return Number.isSafeInteger(position) && position >= 1;
}

function findCode(report: ThrowReport, fallback: ErrorCode): ErrorCode {
  const { code } = report;
  const issueCode = findIssueCode(report);
  if (issueCode !== undefined) return issueCode;
  if (code !== undefined && isErrorCode(code) && (errorCatalog[code].status === 200 || refusalCodes.has(code))) return code;
  if (report.name === 'InternalError' && /out of memory/.test(report.message)) return 'memory-exceeded';
  if (/stack overflow|call stack size/i.test(report.message)) return 'stack-exceeded';
  if (report.name === 'SandboxError') return 'engine-failed';
  return fallback;
}

function describe(report: ThrowReport): string {
  if (report.name === 'InternalError' && /out of memory/.test(report.message))
    return 'The call used all the memory that its limit allows.';
  if (/^stack overflow/.test(report.message)) return 'The call nested deeper than its stack limit allows.';
  const missing = report.name === 'ReferenceError' ? /^'(\w+)' is not defined$/.exec(report.message)?.[1] : undefined;
  const instead = missing === undefined ? undefined : insteadOf.get(missing);
  return instead === undefined ? report.message : `'${missing}' is not defined in the sandbox. ${instead}`;
}
