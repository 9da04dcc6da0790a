import { randomBytes } from 'node:crypto';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { EventLog } from '../../events/event.ts';
import type { Store } from '../../store/store-types.ts';
import { createExpiry } from '../expiry.ts';
import { decideAnswerer } from './approval-answerer.ts';
import { hashShown, readApproval, shortenDetails, toApprovalRow } from './approval-rows.ts';
import type {
  AnswerContent,
  Answerer,
  Approval,
  ApprovalKind,
  ApprovalRequest,
  ApprovalStatus,
  GivenAnswer,
} from './approval-types.ts';
import { readAnswerContent } from './form-answer.ts';
import { createOpenQuestions, type QuestionLimits } from './open-questions.ts';

/** What approvals are made of. */
export interface ApprovalParts {
  readonly store: Pick<Store, 'approvals'>;
  readonly events: Pick<EventLog, 'publish'>;
  readonly limits: QuestionLimits & { readonly expireMs: number };
  /** Takes secrets out of what people are shown. */
  readonly redact?: <Value>(value: Value) => Value;
  /** Epoch ms. */
  readonly now: () => number;
  /** Hears what failed where nobody waits for an answer. Must not throw. */
  readonly onFault: (error: unknown) => void;
}

/** Which questions: with a caller what it caused, with an execution what that waits for. */
interface ApprovalQuery {
  readonly caller?: string;
  readonly status?: ApprovalStatus;
  readonly executionId?: string;
}

type End = Exclude<ApprovalStatus, 'open'>;

const keptEnded = 10_000;
const pruneEvery = 500;
/** A question whose end could not be written is tried again after this time. */
const retryMs = 1000;

/** Questions to people, kept in the store: an answer that was acknowledged is never lost. */
export type Approvals = ReturnType<typeof createApprovals>;

/** Opens the questions to people: those that were open when the daemon ended are open again. */
export function createApprovals(parts: ApprovalParts) {
  const { events, limits, now, redact = (value) => value } = parts;
  const { approvals: table } = parts.store;
  const open = createOpenQuestions(limits);
  for (const row of table.listOpen()) open.add(readApproval(row));
  const expiry = createExpiry(now, endExpired);
  let endedSincePrune = 0;
  let isClosed = false;
  table.prune(keptEnded);
  arm();

  function arm(): void {
    if (!isClosed) expiry.arm(open.list().map(({ expiresAtMs }) => expiresAtMs));
  }

  function endExpired(): void {
    const nowMs = now();
    let isStuck = false;
    for (const approval of open.list()) {
      if (approval.expiresAtMs <= nowMs && !tryEnd(approval, 'expired', 'time')) isStuck = true;
    }
    if (isStuck && !isClosed) expiry.arm([nowMs + retryMs]);
    else arm();
  }

  /** Written first, then told: whoever hears of an end can rely on it. */
  function end(approval: Approval, status: End, by: string, content?: AnswerContent): Approval {
    const answeredAtMs = now();
    const { cut, details } = shortenDetails(approval.details);
    // What was long has done its duty: the record of the call has the arguments.
    const shortened = cut === undefined ? {} : { detailsJson: JSON.stringify(details) };
    const kept = content === undefined ? {} : { contentJson: JSON.stringify(content) };
    const isFirst = table.settle(approval.id, { status, answeredAtMs, answeredBy: by, ...shortened, ...kept });
    const { above, waiters = [] } = open.remove(approval.id) ?? {};
    if (!isFirst) throw refuseSecond(get(approval.id) ?? approval);
    const ended: Approval = { ...approval, status, answeredAtMs, answeredBy: by, ...(content && { content }) };
    events.publish('approval-answer', {
      caller: approval.caller ?? null,
      subject: approval.plugin,
      data: { approval: approval.id, kind: approval.kind, status, by, ...describeCause(approval, above) },
    });
    for (const resolve of waiters) resolve(ended);
    endedSincePrune += 1;
    if (endedSincePrune >= pruneEvery) {
      endedSincePrune = 0;
      attempt(() => table.prune(keptEnded));
    }
    return ended;
  }

  /** For what nobody waits for: a failure is told, and false. */
  function attempt(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      parts.onFault(error);
      return false;
    }
  }

  const tryEnd = (question: Approval, status: End, by: string): boolean => attempt(() => void end(question, status, by));

  function withdrawAll(questions: readonly Approval[]): void {
    for (const question of questions) tryEnd(question, 'withdrawn', 'daemon');
    if (questions.length > 0) arm();
  }

  function get(id: string): Approval | undefined {
    const known = open.get(id);
    if (known !== undefined) return known;
    const row = table.get(id);
    return row && readApproval(row);
  }

  function listOpen({ caller, executionId }: ApprovalQuery): Approval[] {
    const found = executionId === undefined ? open.list() : open.ofExecution(executionId);
    return found.filter((approval) => caller === undefined || approval.caller === caller);
  }

  function openQuestion(request: ApprovalRequest): Approval {
    open.requireRoom(request);
    const createdAtMs = now();
    const id = `apr_${randomBytes(10).toString('hex')}`;
    const row = toApprovalRow(
      { ...request, ...redact({ question: request.question, details: request.details }) },
      { id, createdAtMs, expiresAtMs: createdAtMs + limits.expireMs },
    );
    table.insert(row);
    const approval = readApproval(row);
    open.add(approval, request.above);
    arm();
    const { kind, reason, question, expiresAtMs } = approval;
    events.publish('approval-request', {
      caller: approval.caller ?? null,
      subject: approval.plugin,
      data: { approval: id, kind, reason, question, ...describeCause(approval, request.above), expiresAtMs },
    });
    return approval;
  }

  function ask(request: ApprovalRequest): Approval {
    const row = table.findByKey(request.askKey);
    if (row === undefined) return openQuestion(request);
    const asked = readApproval(row);
    if (asked.argumentsHash === request.argumentsHash || (asked.kind === 'grant' && asked.status === 'denied')) return asked;
    if (asked.status !== 'open') {
      throw new HotcellError('conflict', 'The question was answered for other arguments; that answer does not hold for these.');
    }
    end(asked, 'withdrawn', 'daemon');
    return openQuestion(request);
  }

  return {
    /** Asks, or finds what was asked under the same key; committed when it returns. Throws `queue-full` when too many are open. */
    ask,
    /** Asks where there is room: where too many questions are open nobody is asked, since what waits is shown elsewhere, too; false then. */
    askIfRoom(request: ApprovalRequest): boolean {
      try {
        ask(request);
        return true;
      } catch (error) {
        if (error instanceof HotcellError && error.code === 'queue-full') return false;
        throw error;
      }
    },
    /** The open questions of a kind, oldest first. */
    listOpen: (kind: ApprovalKind): Approval[] => open.list().filter((approval) => approval.kind === kind),
    /** Resolves as soon as the question is no longer open; rejects with the signal's reason. Many may wait for one question. */
    async settled(id: string, signal: AbortSignal): Promise<Approval> {
      signal.throwIfAborted();
      const approval = get(id);
      if (approval === undefined) throw unknownApproval(id);
      return open.waitFor(id, signal) ?? approval;
    },
    /**
     * `shown` is the hash of what was shown (see `hashShown`): where lists cut details, an approval must name it.
     * Throws `approval-unknown`, `forbidden` or `conflict` (answered before, or another hash), `body-invalid` (a hash is needed).
     */
    answer(id: string, answer: 'approved' | 'denied', by: Answerer, { shown, content: given }: GivenAnswer = {}): Approval {
      const approval = get(id);
      const decision = approval && decideAnswerer(approval, by);
      if (approval === undefined || decision === undefined || (!decision.may && decision.unseen)) throw unknownApproval(id);
      if (!decision.may) {
        throw new HotcellError('forbidden', decision.reason, { fix: `A person answers with: hotcell approve ${approval.id}` });
      }
      if (approval.status !== 'open') throw refuseSecond(approval);
      // What an answer lets happen was seen; an answer with content lets nothing happen.
      if (answer === 'approved' && approval.kind !== 'ask') requireShown(approval, shown);
      const written = readAnswerContent(approval, answer, given);
      const content = written && redact(written);
      // The timer may be late, the answer is not taken for it.
      const isLate = approval.expiresAtMs <= now();
      const ended = end(approval, isLate ? 'expired' : answer, isLate ? 'time' : by.id, isLate ? undefined : content);
      arm();
      if (isLate) throw refuseSecond(ended);
      return ended;
    },
    /** Closes the open questions of an execution that is over, and forgets what those were answered with that were not. */
    withdrawOf(executionId: string): void {
      withdrawAll(open.ofExecution(executionId));
      attempt(() => table.forgetContent(executionId));
    },
    /** Closes the open question under this key, if there is one. */
    withdraw: (askKey: string): void => withdrawAll(open.list().filter((approval) => approval.askKey === askKey)),
    get,
    /** Newest first. */
    list: ({ limit, ...query }: ApprovalQuery & { readonly limit: number }): Approval[] =>
      query.status === 'open' ? listOpen(query).reverse().slice(0, limit) : table.list({ ...query, limit }).map(readApproval),
    /** How many there are of those that `list` would find without its limit. */
    count: (query: ApprovalQuery): number => (query.status === 'open' ? listOpen(query).length : table.count(query)),
    /** Executions that wait for a person. */
    waitingExecutions: (): ReadonlySet<string> => open.executions(),
    close(): void {
      isClosed = true;
      expiry.close();
    },
  };
}

/** What a list cuts is approved by whoever had all of it; a hash of something else was read from another question. */
function requireShown(approval: Approval, shown: string | undefined): void {
  if (shown === hashShown(approval)) return;
  if (shown !== undefined) {
    throw new HotcellError('conflict', `The shownHash is not that of what the question ${approval.id} shows.`, {
      fix: `Read it again: hotcell approve ${approval.id}`,
    });
  }
  const { cut } = shortenDetails(approval.details);
  if (cut === undefined) return;
  const names = Object.entries(cut).map(([name, chars]) => `${name} has ${chars} characters`);
  throw new HotcellError('body-invalid', `The question ${approval.id} is longer than lists show: ${names.join(', ')}.`, {
    fix: `Read all of it (hotcell approve ${approval.id}, or approvals.get), and approve with the shownHash that stands there.`,
  });
}

function describeCause(
  { tool, executionId }: Approval,
  above: readonly string[] | undefined,
): { tool?: string; execution?: string; above?: readonly string[] } {
  return {
    ...(tool === undefined ? {} : { tool }),
    ...(executionId === undefined ? {} : { execution: executionId }),
    ...(above === undefined ? {} : { above }),
  };
}

function unknownApproval(id: string): HotcellError {
  return new HotcellError('approval-unknown', `There is no question ${JSON.stringify(id.slice(0, 64))}.`);
}

function refuseSecond({ id, status, answeredBy, answeredAtMs }: Approval): HotcellError {
  const when = answeredAtMs === undefined ? '' : ` at ${new Date(answeredAtMs).toISOString()}`;
  const who = answeredBy === undefined ? '' : ` by ${answeredBy}`;
  return new HotcellError('conflict', `The question ${id} is not open any more: it was ${status}${when}${who}.`, {
    fix: 'List the open ones: hotcell approve.',
    facts: { status },
  });
}
