import type { EventLog } from '../events/event.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { Store } from '../store/store-types.ts';
import type { AuditRow } from '../store/tables/access/audit.ts';

/** One use of a permission, or its refusal, by a running call. */
export type AuditedUse = Omit<AuditRow, 'atMs'>;

const pruneEvery = 1000;
const maxDetailChars = 500;
const givenEveryMs = 60_000;
const maxRemembered = 10_000;

/** Writes down who used which permission, who was refused, and who decided about permissions. */
export type AuditTrail = ReturnType<typeof createAuditTrail>;

/** Opens the trail; what is decided about grants, approvals and secrets it hears from the events. */
export function createAuditTrail(parts: {
  readonly store: Pick<Store, 'audit'>;
  readonly events: Pick<EventLog, 'subscribe'>;
  readonly keep: number;
  readonly now: () => number;
  readonly redactor?: Pick<Redactor, 'text'>;
}) {
  const { store, keep, now, redactor } = parts;
  const givenAtMsByUse = new Map<string, number>();
  let sincePrune = pruneEvery;

  function note(use: AuditedUse): void {
    const detail = use.detail.slice(0, maxDetailChars);
    store.audit.insert({ ...use, detail: redactor?.text(detail) ?? detail, atMs: now() });
    if (++sincePrune < pruneEvery) return;
    sincePrune = 0;
    store.audit.prune(keep);
  }

  const decisions = {
    types: ['grant-change', 'approval-answer', 'engine-change', 'name-change', 'setting-change', 'secret-change'] as const,
  };
  const end = parts.events.subscribe(decisions, ({ type, subject, data }) => {
    if (type === 'grant-change') {
      const detail = `${data.action} ${data.permissions} (${data.scope})`;
      note(decision({ by: data.by, plugin: subject, permission: 'grant', detail, allowed: data.action === 'granted' }));
    }
    if (type === 'engine-change') {
      const { from, to, reason, tool = '', execution = '' } = data;
      const moved = decision({
        by: 'daemon',
        plugin: subject,
        permission: 'engine',
        detail: `${from} to ${to}: ${reason}`,
        allowed: true,
      });
      note({ ...moved, executionId: execution, tool });
    }
    if (type === 'name-change') {
      const detail = `${subject}: from ${data.from || 'nobody'} to ${data.to}`;
      note(decision({ by: data.by, plugin: data.to, permission: 'name', detail, allowed: true }));
    }
    if (type === 'setting-change') {
      note(decision({ by: data.by, permission: 'setting', detail: `${subject}: ${data.setting}`, allowed: true }));
    }
    if (type === 'secret-change') {
      const detail = `${data.action} ${subject}: ${data.binding}`;
      note(decision({ by: data.by, permission: 'secret', detail, allowed: data.action === 'set' }));
    }
    // What nobody needs to answer any more was not decided by anybody.
    if (type === 'approval-answer' && data.status !== 'withdrawn') {
      const { by = '', execution = '', tool = '', status, kind } = data;
      const answer = decision({
        by,
        plugin: subject,
        permission: 'approval',
        detail: `${kind} ${status}`,
        allowed: status === 'approved',
      });
      note({ ...answer, executionId: execution, tool });
    }
  });

  return {
    /** Queued, and bounded. Must not throw. */
    note,
    /**
     * For what a call gets without asking, such as the values of `env`: one row a minute for each plugin, caller and name, so
     * that a busy tool costs no writes.
     */
    noteGiven(use: AuditedUse): void {
      const key = `${use.plugin}\n${use.caller}\n${use.permission}\n${use.detail}`;
      const atMs = now();
      const givenAtMs = givenAtMsByUse.get(key);
      if (givenAtMs !== undefined && Math.abs(atMs - givenAtMs) < givenEveryMs) return;
      if (givenAtMsByUse.size >= maxRemembered) givenAtMsByUse.clear();
      givenAtMsByUse.set(key, atMs);
      note(use);
    },
    close: end,
  };
}

interface Decision {
  readonly by: string;
  readonly plugin?: string;
  readonly permission: string;
  readonly detail: string;
  readonly allowed: boolean;
}

function decision({ by, plugin = '', permission, detail, allowed }: Decision): AuditedUse {
  return { executionId: '', caller: by, plugin, tool: '', permission, detail, allowed };
}
