import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { ScopeInput } from '../../../operations/handlers/access/grant-scope.ts';

/** The flags that say how long permissions are granted. */
export interface ScopeFlags {
  readonly once?: boolean;
  readonly session?: string;
  readonly caller?: string;
  readonly until?: string;
}

/** Reads them; empty when none was given. */
export function readScopeFlags({ once, session, caller, until }: ScopeFlags): ScopeInput {
  if ([once === true, session !== undefined, until !== undefined].filter(Boolean).length > 1) {
    throw new HotcellError('usage-wrong', 'Expected only one of --once, --session and --until.');
  }
  if (session !== undefined) return { scope: 'session', session, ...(caller === undefined ? {} : { caller }) };
  if (caller !== undefined) throw new HotcellError('usage-wrong', '--caller says whose --session it is; name the session too.');
  if (until === undefined) return once === true ? { scope: 'once' } : {};
  const untilMs = Date.parse(until);
  if (Number.isFinite(untilMs) && untilMs <= Date.now()) {
    throw new HotcellError('usage-wrong', `--until ${until.slice(0, 64)} is past: the grant would have ended already.`, {
      fix: 'Name a date to come, or take a grant back: hotcell revoke NAME.',
    });
  }
  if (Number.isFinite(untilMs)) return { scope: 'until', untilMs };
  throw new HotcellError('usage-wrong', `Expected a date such as 2027-01-31, got "${until.slice(0, 64)}".`);
}
