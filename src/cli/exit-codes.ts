import type { ErrorCode } from '../errors/catalog.ts';

/** What a command answers to its shell. */
export const exitCodes = { done: 0, failed: 1, usage: 2, unreachable: 3, denied: 4 } as const;

const codesByError: Partial<Record<ErrorCode, number>> = {
  'usage-wrong': exitCodes.usage,
  'arguments-invalid': exitCodes.usage,
  'body-invalid': exitCodes.usage,
  'config-invalid': exitCodes.usage,
  'daemon-unreachable': exitCodes.unreachable,
  unauthenticated: exitCodes.denied,
  forbidden: exitCodes.denied,
  'permission-denied': exitCodes.denied,
  'approval-denied': exitCodes.denied,
  'hook-refused': exitCodes.denied,
  'network-refused': exitCodes.denied,
  'file-refused': exitCodes.denied,
};

/** The exit code of a command that ended with an error. */
export function exitCodeFor(code: ErrorCode): number {
  return codesByError[code] ?? exitCodes.failed;
}
