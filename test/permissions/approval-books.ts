import { onTestFinished } from 'vitest';
import type { EventDataByType, EventType } from '../../src/events/event-table.ts';
import type { Answerer, ApprovalRequest } from '../../src/permissions/approvals/approval-types.ts';
import { type ApprovalParts, createApprovals } from '../../src/permissions/approvals/approvals.ts';
import type { Store } from '../../src/store/store-types.ts';
import { temporaryStore } from '../store/temporary-store.ts';

/** What was told, with the caller that may hear it. */
export interface ToldEvent {
  readonly type: EventType;
  readonly caller: string | null;
  readonly data: EventDataByType[EventType];
}

/** Questions over a real store, with a clock that stands until it is moved. */
export function openQuestions(
  options: {
    store?: Store;
    limits?: Partial<ApprovalParts['limits']>;
    now?: () => number;
    redact?: ApprovalParts['redact'];
  } = {},
) {
  const store = options.store ?? temporaryStore();
  const clock = { ms: 1_000_000 };
  const told: ToldEvent[] = [];
  const approvals = createApprovals({
    store,
    events: { publish: (type, { caller = null, data }) => void told.push({ type, caller, data }) },
    limits: { expireMs: 60_000, maxOpen: 1000, maxOpenPerCaller: 100, ...options.limits },
    ...(options.redact === undefined ? {} : { redact: options.redact }),
    now: options.now ?? (() => clock.ms),
    onFault: (error) => {
      throw error;
    },
  });
  onTestFinished(() => approvals.close());
  return { approvals, store, clock, told };
}

/** A question of a running call of the caller `key_ann`. */
export function question(changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    kind: 'confirm',
    askKey: 'exe_1:1',
    unitPath: '/plugins/mail.ts',
    plugin: 'mail',
    tool: 'mail',
    executionId: 'exe_1',
    caller: 'key_ann',
    session: 's',
    reason: 'confirm',
    question: 'Send it?',
    argumentsHash: 'a'.repeat(64),
    details: { arguments: { to: 'bob' } },
    ...changes,
  };
}

export const operator: Answerer = { id: 'local', role: 'admin', mayAnswer: false, isPerson: false };
export const ann: Answerer = { id: 'key_ann', role: 'caller', mayAnswer: true, isPerson: false };
