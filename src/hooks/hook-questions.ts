import { hash } from 'node:crypto';
import { HotcellError } from '../errors/hotcell-error.ts';
import { hashShown } from '../permissions/approvals/approval-details.ts';
import type { Approval, ApprovalRequest, Approvals } from '../permissions/approvals/approval-types.ts';
import { describePermissions } from '../permissions/decision.ts';
import { toolNameOf } from './hook-entry.ts';
import type { HookRecord } from './hook-record.ts';

/** Keeps one open question for every hook that could run if somebody approved its files. */
export interface HookQuestions {
  /** Brings the questions in line with where the hooks stand. Never throws. */
  follow(records: readonly HookRecord[]): void;
  /** Somebody approved these files: whatever asks about them has its answer. */
  answered(record: HookRecord, by: string): void;
}

const maxQuestions = 100_000;

/** Creates the questions. One that was answered is not asked again for the same files. */
export function createHookQuestions(parts: {
  readonly approvals: Pick<Approvals, 'ask' | 'answer' | 'withdraw' | 'list'>;
  /** Must not throw. */
  readonly onFault: (error: unknown) => void;
}): HookQuestions {
  const { approvals, onFault } = parts;
  const asked = new Set<string>();

  function listOpen(): readonly Approval[] {
    return approvals.list({ status: 'open', limit: maxQuestions }).filter(({ kind }) => kind === 'hook');
  }

  function ask(request: ApprovalRequest): void {
    if (asked.has(request.askKey)) return;
    try {
      approvals.ask(request);
      asked.add(request.askKey);
    } catch (error) {
      // Too many questions: the hook is listed as new all the same.
      if (!(error instanceof HotcellError && error.code === 'queue-full')) throw error;
    }
  }

  return {
    follow(records) {
      try {
        const wanted = new Map(records.flatMap((record) => describeRequest(record) ?? []).map((each) => [each.askKey, each]));
        for (const { askKey } of listOpen()) {
          if (wanted.has(askKey)) continue;
          approvals.withdraw(askKey);
          asked.delete(askKey);
        }
        for (const request of wanted.values()) ask(request);
      } catch (error) {
        onFault(error);
      }
    },
    answered(record, by) {
      const question = listOpen().find(({ askKey }) => askKey === keyOf(record));
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
