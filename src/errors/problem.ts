import { adviseFor } from './advice.ts';
import type { ErrorCode } from './catalog.ts';
import type { HotcellError } from './hotcell-error.ts';

/** A refusal as doors send it: RFC 9457 problem details, with the stable code, the next step and the facts beside it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly fix: string;
  readonly [fact: string]: unknown;
}

/** Turns an error into problem details, for whoever has this role. Facts never replace a member that the standard or the catalog defines. */
export function describeProblem(error: HotcellError, role?: 'admin' | 'caller'): Problem {
  return {
    ...error.facts,
    type: `urn:hotcell:error:${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.message,
    code: error.code,
    fix: adviseFor(role, error.fix),
  };
}
