import { hash } from 'node:crypto';
import type { PermissionSet } from '../../config/permission-set.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { describePermissions, isNothing } from '../decision.ts';
import type { Asking, GrantRegistry, GrantScope } from '../grant-registry.ts';
import type { Grant } from '../select-grants.ts';
import type { Approval, ApprovalRequest } from './approval-types.ts';
import type { Approvals } from './approvals.ts';

/** A plugin that may ask for permissions. */
export interface AskingUnit {
  readonly asking: Asking;
  /** The state of its lifecycle. */
  readonly state: string;
  /** The path of the plugin as people read it. */
  readonly path: string;
  readonly version: string;
  /** Why it needs another engine; the daemon's own words. */
  readonly reason?: string | undefined;
}

/** What the questions are made of. */
export interface GrantQuestionParts {
  readonly approvals: Pick<Approvals, 'askIfRoom' | 'withdraw' | 'listOpen'>;
  readonly grants: Pick<GrantRegistry, 'decide' | 'create'>;
  /** At least every plugin that lacks something it asks for. */
  readonly listUnits: () => readonly AskingUnit[];
  /** Must not throw. */
  readonly onFault: (error: unknown) => void;
}

/** A burst of changes becomes one look. */
const settleMs = 20;
/** More than a person can judge in one go is granted word by word. */
const maxWordsChars = 16 * 1024;
const askingStates: ReadonlySet<string> = new Set(['ready', 'pending-grant', 'degraded']);

/** Keeps one open question for every plugin that waits to be granted something. */
export type GrantQuestions = ReturnType<typeof createGrantQuestions>;

/** Creates the questions about permissions. */
export function createGrantQuestions(parts: GrantQuestionParts) {
  const { approvals, grants } = parts;
  // A grant for once or for a session leaves the plugin pending: it is not asked about again until it asks for something else.
  const grantedInPart = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  // A plugin that is not looked at yet may still ask: its question of the last run must not be withdrawn.
  let areAllKnown = false;

  function refresh(): void {
    areAllKnown = true;
    try {
      bringInLine();
    } catch (error) {
      parts.onFault(error);
    }
  }

  function bringInLine(): void {
    const wanted = new Map<string, ApprovalRequest>();
    const loading = new Set<string>();
    for (const plugin of parts.listUnits()) {
      if (plugin.state === 'loading') loading.add(plugin.asking.path);
      const request = describeRequest(plugin, grants.decide(plugin.asking).pending);
      if (request !== undefined) wanted.set(request.askKey, request);
    }
    for (const { askKey, unitPath } of approvals.listOpen('grant')) {
      if (!wanted.has(askKey) && !loading.has(unitPath)) approvals.withdraw(askKey);
    }
    for (const [path, askKey] of grantedInPart) if (!wanted.has(askKey) && !loading.has(path)) grantedInPart.delete(path);
    for (const request of wanted.values()) {
      if (grantedInPart.get(request.unitPath) !== request.askKey) approvals.askIfRoom(request);
    }
  }

  function require(approval: Approval): { asking: Asking; permissions: PermissionSet } {
    const plugin = parts.listUnits().find(({ asking }) => asking.path === approval.unitPath);
    const permissions = plugin && grants.decide(plugin.asking).pending;
    if (plugin && permissions && hashRequest(plugin.asking, permissions) === approval.argumentsHash) {
      return { asking: plugin.asking, permissions };
    }
    if (areAllKnown) refresh();
    throw new HotcellError('conflict', `The plugin "${approval.plugin}" does not ask for that any more.`, {
      fix: 'Look at what it asks for now: hotcell approve.',
    });
  }

  return {
    /** Something about plugins or grants changed: the questions follow in a moment. Nothing before the first `refresh`. */
    poke(): void {
      if (!areAllKnown) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        refresh();
      }, settleMs).unref();
    },
    /** Brings the questions in line with what is pending now; first when all plugins have a state. Never throws. */
    refresh,
    /**
     * What an answer to this question grants: exactly what was shown, for the very content that it was shown for. Throws
     * `conflict` when the plugin asks for something else by now.
     */
    require,
    /** Grants what was asked for. */
    grant(approval: Approval, scope: GrantScope, grantedBy: string): Grant {
      const { asking, permissions } = require(approval);
      const grant = grants.create({ asking, permissions, scope, grantedBy });
      if (scope.scope === 'once' || scope.scope === 'session') grantedInPart.set(approval.unitPath, approval.askKey);
      return grant;
    },
    close: (): void => clearTimeout(timer),
  };
}

function describeRequest(
  { asking, state, path, version, reason }: AskingUnit,
  pending: PermissionSet,
): ApprovalRequest | undefined {
  const words = describePermissions(pending);
  if (isNothing(pending) || !askingStates.has(state) || words.length > maxWordsChars) return undefined;
  const { path: unitPath, contentHash, author, writtenBy, manifest } = asking;
  return {
    kind: 'grant',
    askKey: `grant:${hash('sha256', JSON.stringify([unitPath, sortEntries(pending)]))}`,
    unitPath,
    plugin: manifest.name,
    ...(writtenBy === undefined ? {} : { caller: writtenBy }),
    reason: 'permissions',
    question: `The plugin "${manifest.name}" asks for: ${words}${reason === undefined ? '' : `. ${reason}`}`,
    argumentsHash: hashRequest(asking, pending),
    details: { path, version, author, permissions: words, contentHash },
  };
}

function hashRequest({ path: unitPath, contentHash, author }: Asking, pending: PermissionSet): string {
  const facts = [unitPath, contentHash, author, sortEntries(pending)];
  return hash('sha256', JSON.stringify(facts));
}

/** The order in which a plugin names what it asks for says nothing. */
function sortEntries(set: PermissionSet): ReadonlyArray<readonly [string, unknown]> {
  const entries: Array<[string, unknown]> = Object.entries(set);
  return entries
    .map(([key, value]): [string, unknown] => [key, Array.isArray(value) ? [...value].sort() : value])
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
