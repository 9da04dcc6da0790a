import type { PermissionSet } from '../../../config/permission-set.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { GrantScope } from '../../../permissions/grant-registry.ts';

/** How long a grant is to hold, as doors say it. */
export interface ScopeInput {
  readonly scope?: GrantScope['scope'];
  readonly session?: string;
  /** Whose session. */
  readonly caller?: string;
  readonly untilMs?: number;
}

/** Reads the scope of a grant: what is not said follows from what is. Throws `body-invalid` for what does not fit together. */
export function readGrantScope(input: ScopeInput, callerId: string): GrantScope {
  const { session, caller, untilMs } = input;
  const scope = input.scope ?? (session !== undefined ? 'session' : untilMs !== undefined ? 'until' : 'always');
  if ((scope === 'session') !== (session !== undefined) || (scope === 'until') !== (untilMs !== undefined)) {
    throw new HotcellError(
      'body-invalid',
      `The scope "${scope}" does not fit: session goes with "session", untilMs with "until".`,
    );
  }
  if (caller !== undefined && scope !== 'session') {
    throw new HotcellError('body-invalid', 'caller names whose session it is, so it goes with the scope "session" alone.');
  }
  if (session !== undefined) return { scope: 'session', session, caller: caller ?? callerId };
  if (untilMs === undefined) return { scope: scope === 'once' ? 'once' : 'always' };
  if (untilMs > Date.now()) return { scope: 'until', untilMs };
  throw new HotcellError('body-invalid', `The grant would have ended already: ${new Date(untilMs).toISOString()} is past.`);
}

/** Throws `body-invalid` for an engine that is allowed for less than the plugin: it is built once for all its calls. */
export function requireLastingScope({ engine }: PermissionSet, { scope }: GrantScope): void {
  if (engine === undefined || scope === 'always' || scope === 'until') return;
  throw new HotcellError('body-invalid', 'A plugin has one engine for all its calls, so it is allowed always or until a date.', {
    fix: 'Leave --once and --session out, or write --until DATE.',
  });
}
