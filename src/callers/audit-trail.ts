import { OnceAMinute } from '../collections/once-a-minute.ts';
import type { EventEnvelope, EventLog } from '../events/event.ts';
import type { EventType } from '../events/event-table.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { Store } from '../store/store-types.ts';
import type { AuditRow } from '../store/tables/access/audit.ts';

/** One use of a permission, or its refusal, by a running call. */
export type AuditedUse = Omit<AuditRow, 'atMs'>;

const pruneEvery = 1000;
const maxDetailChars = 500;

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
  const givenUses = new OnceAMinute();
  let sincePrune = pruneEvery;

  function note(use: AuditedUse): void {
    const detail = use.detail.slice(0, maxDetailChars);
    store.audit.insert({ ...use, detail: redactor?.text(detail) ?? detail, atMs: now() });
    if (++sincePrune < pruneEvery) return;
    sincePrune = 0;
    store.audit.prune(keep);
  }

  const end = parts.events.subscribe({ types: decisionTypes }, (event) => {
    const decided = describeDecision(event);
    if (decided !== undefined) note({ executionId: '', plugin: event.subject, tool: '', ...decided });
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
      if (givenUses.isDue(key, now())) note(use);
    },
    close: end,
  };
}

const decisionTypes = [
  'grant-change',
  'approval-answer',
  'engine-change',
  'name-change',
  'setting-change',
  'secret-change',
] as const satisfies readonly EventType[];

type Decision = Omit<AuditedUse, 'executionId' | 'plugin' | 'tool'> & Partial<AuditedUse>;

/** Who decided what, of an event that tells of a decision; what it does not say is that of its subject. */
function describeDecision({ type, subject, data }: EventEnvelope): Decision | undefined {
  switch (type) {
    case 'grant-change': {
      const detail = `${data.action} ${data.permissions} (${data.scope})`;
      return { caller: data.by, permission: 'grant', detail, allowed: data.action === 'granted' };
    }
    case 'engine-change': {
      const { from, to, reason, tool = '', execution: executionId = '' } = data;
      const detail = `${from} to ${to}: ${reason}`;
      return { caller: 'daemon', permission: 'engine', detail, allowed: true, executionId, tool };
    }
    case 'name-change': {
      const detail = `${subject}: from ${data.from || 'nobody'} to ${data.to}`;
      return { caller: data.by, plugin: data.to, permission: 'name', detail, allowed: true };
    }
    case 'setting-change':
      return { caller: data.by, plugin: '', permission: 'setting', detail: `${subject}: ${data.setting}`, allowed: true };
    case 'secret-change': {
      const detail = `${data.action} ${subject}: ${data.binding}`;
      return { caller: data.by, plugin: '', permission: 'secret', detail, allowed: data.action === 'set' };
    }
    case 'approval-answer': {
      const { by, execution: executionId = '', tool = '', status, kind } = data;
      // What nobody needs to answer any more was not decided by anybody.
      if (status === 'withdrawn') return undefined;
      const detail = `${kind} ${status}`;
      return { caller: by, permission: 'approval', detail, allowed: status === 'approved', executionId, tool };
    }
    default:
      return undefined;
  }
}
