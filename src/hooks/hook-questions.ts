import { hash } from 'node:crypto';
import { hashShown } from '../permissions/approvals/approval-rows.ts';
import type { ApprovalRequest } from '../permissions/approvals/approval-types.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import { describePermissions } from '../permissions/decision.ts';
import { toolNameOf } from './hook-entry.ts';
import type { HookRecord } from './hook-record.ts';

/** Keeps one open question for every hook that could run if somebody approved its files. */
export type HookQuestions = ReturnType<typeof createHookQuestions>;

/** Creates the questions. One that was answered is not asked again for the same files. */
export function createHookQuestions(parts: {
  readonly approvals: Pick<Approvals, 'askIfRoom' | 'answer' | 'withdraw' | 'listOpen'>;
  /** Must not throw. */
  readonly onFault: (error: unknown) => void;
}) {
  const { approvals, onFault } = parts;
  const asked = new Set<string>();

  return {
    /** Brings the questions in line with where the hooks stand. Never throws. */
    follow(records: readonly HookRecord[]): void {
      try {
        const wanted = new Map(records.flatMap((record) => describeRequest(record) ?? []).map((each) => [each.askKey, each]));
        for (const { askKey } of approvals.listOpen('hook')) {
          if (wanted.has(askKey)) continue;
          approvals.withdraw(askKey);
          asked.delete(askKey);
        }
        for (const [askKey, request] of wanted) {
          if (!asked.has(askKey) && approvals.askIfRoom(request)) asked.add(askKey);
        }
      } catch (error) {
        onFault(error);
      }
    },
    /** Somebody approved these files: whatever asks about them has its answer. */
    answered(record: HookRecord, by: string): void {
      const question = approvals.listOpen('hook').find(({ askKey }) => askKey === keyOf(record));
      if (question === undefined) return;
      approvals.answer(
        question.id,
        'approved',
        { id: by, role: 'admin', mayAnswer: false, isPerson: false },
        { shown: hashShown(question) },
      );
    },
  };
}

function keyOf({ place, files }: HookRecord): string {
  return `hook:${hash('sha256', JSON.stringify([place.dir, files.contentHash]))}`;
}

function describeRequest(record: HookRecord): ApprovalRequest | undefined {
  const { place, state, manifest, files } = record;
  if (manifest === undefined || (state !== 'new' && state !== 'changed')) return undefined;
  const again = state === 'changed' ? ', which are not those that were approved' : '';
  return {
    kind: 'hook',
    askKey: keyOf(record),
    unitPath: place.dir,
    plugin: toolNameOf(place.name),
    reason: 'hook',
    question: `May the hook "${place.name}" run with the files that it has now${again}?`,
    argumentsHash: files.contentHash,
    details: {
      about: manifest.description,
      events: manifest.events.map(({ event }) => event).join(' '),
      ...(manifest.tools.length === 0 ? {} : { callsOf: manifest.tools.join(' ') }),
      engine: manifest.engine,
      permissions: describePermissions(manifest.permissions) || 'none',
      files: files.files.map(({ path }) => path).join(', '),
      contentHash: files.contentHash,
    },
  };
}
