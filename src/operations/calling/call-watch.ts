import type { Execution } from '../../calls/call-types.ts';
import type { EventEnvelope } from '../../events/event.ts';
import type { Ask } from '../ask.ts';
import { approvalContracts } from '../contracts/access/approvals.ts';
import { executionContracts } from '../contracts/executions.ts';
import type { OperationContext, OperationStream } from '../operation.ts';

/** What is told of a call while it goes on. Nothing here may throw. */
export interface CallNews {
  progress(done: number, total: number | undefined, message: string | undefined): void;
  log(level: string, text: string): void;
}

/** What happens next in a call that is watched. */
export type NextStep<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** Ids of the questions that are open now. */
  | { readonly kind: 'questions'; readonly questions: readonly string[] }
  /** It goes on, and nobody asks anything. */
  | { readonly kind: 'late' };

/** Questions that are asked at the same time arrive together: so long after the last one is waited for another. */
const gatherMs = 10;

/** Watches one call: its id, what it tells, and the questions that are open in it. */
export class CallWatch implements OperationStream {
  readonly #news: CallNews;
  /** Open questions that nobody was told of yet. */
  readonly #open = new Set<string>();
  readonly #known = new Set<string>();
  readonly #accepted = Promise.withResolvers<string>();
  #wake = Promise.withResolvers<void>();
  executionId: string | undefined;

  constructor(news: CallNews) {
    this.#news = news;
  }

  accepted(executionId: string): void {
    this.executionId = executionId;
    this.#accepted.resolve(executionId);
  }

  event({ type, data }: EventEnvelope): void {
    if (type === 'execution-progress') this.#news.progress(data.done, data.total, data.message);
    else if (type === 'execution-log') this.#news.log(data.level, data.text);
    else if (type === 'approval-request') this.asked(data.approval);
    else if (type === 'approval-answer') {
      this.#open.delete(data.approval);
      this.#known.delete(data.approval);
    }
  }

  /** Resolves with its id once it has one. */
  get begun(): Promise<string> {
    return this.#accepted.promise;
  }

  /** Somebody is asked now. */
  get isAsked(): boolean {
    return this.#open.size + this.#known.size > 0;
  }

  /** Questions that are open and were known before. */
  get known(): readonly string[] {
    return [...this.#known];
  }

  /** These are no news any more. */
  know(approvals: readonly string[]): void {
    for (const id of approvals) if (this.#open.delete(id)) this.#known.add(id);
  }

  /** A question that is open. */
  asked(approval: string): void {
    this.#open.add(approval);
    this.#wake.resolve();
  }

  /** Resolves with the answer, with open questions, or `lateMs` after it was accepted; rejects as the answer does. */
  async next<Answer>(answer: Promise<Answer>, lateMs: number | undefined): Promise<NextStep<Answer>> {
    const answered = answer.then((value) => ({ kind: 'answer', answer: value }) as const);
    // Whoever stops to watch hears nothing of what fails later; the record has it.
    answered.catch(() => {});
    let timer: NodeJS.Timeout | undefined;
    const wait = (ms: number) => new Promise<{ kind: 'late' }>((resolve) => (timer = setTimeout(resolve, ms, { kind: 'late' })));
    const late = lateMs === undefined ? [] : [this.#accepted.promise.then(() => wait(lateMs))];
    try {
      for (let isAsked = this.#open.size > 0; ; isAsked = false) {
        const step = isAsked ? undefined : await Promise.race([answered, this.#wake.promise, ...late]);
        if (step !== undefined) return step;
        this.#wake = Promise.withResolvers();
        await this.#gather();
        if (this.#open.size > 0) return { kind: 'questions', questions: [...this.#open] };
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async #gather(): Promise<void> {
    for (let count = 0; this.#open.size > count; ) {
      count = this.#open.size;
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
    }
  }
}

/** An execution, and the ids of the questions that are open in it. */
export async function readAsking(
  id: string,
  ask: Ask,
  context: OperationContext,
): Promise<{ readonly execution: Execution; readonly asked: readonly string[] }> {
  const execution = await ask(executionContracts.get, { id }, context);
  const isOpen = execution.status === 'pending' || execution.status === 'running';
  const open = isOpen ? (await ask(approvalContracts.list, { executionId: id, limit: 1000 }, context)).items : [];
  return { execution, asked: open.map((approval) => approval.id) };
}
