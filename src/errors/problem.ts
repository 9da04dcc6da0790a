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

/** Steps that only an operator can take: commands that need an admin, settings, and the files of the daemon. */
const forOperators =
  /hotcell (?:grant|revoke|why|plugin|hook|doctor|images|approve|key|secret|start|executions show)\b|\bconfig\b|\bSet (?:the mode|safeMode)|\braise (?:limits|queue|tools|kv|files)\.|\b(?:grant|log of the daemon|data directory)\b/;

/** Two sentences of a fix as one text, in which nothing follows a command to copy: such a sentence has no full stop. */
export function joinFixes(first: string, second: string): string {
  if (first === '' || second === '') return first + second;
  const isCommandFirst = !/[.!?]$/.test(first) && /[.!?]$/.test(second);
  return isCommandFirst ? `${second} ${first}` : `${first} ${second}`;
}

/** The next step for somebody: who cannot take it hears who can, instead of a command that would be refused. */
export function adviseFor(role: 'admin' | 'caller' | undefined, fix: string): string {
  // What lists choices, or begins with a step of one's own, may name such things.
  if (role !== 'caller' || /operator|^(?:Known are|Send Author)/i.test(fix) || !forOperators.test(fix)) return fix;
  return `Ask the operator, who can help: ${fix}`;
}
