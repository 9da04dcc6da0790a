import type { BorderAnswer, BorderHost, BorderRequest } from '../../border/border.ts';
import type { RunRequest } from '../engine.ts';
import type { CellCall, OpenQuestion } from './cell-call.ts';
import type { CallSliceResult, Question } from './protocol.ts';
import type { SuspendedQuestion } from './suspend/suspended-call.ts';

/** A question as it is put: for the first time, or again after the call was suspended, with what was left of its timer. */
export type AskedQuestion = Question | SuspendedQuestion;

/**
 * Carries a question to whoever answers it: timers here, unless the call goes the way of an earlier one, everything else over the
 * border. `deliver` is called at most once.
 */
export function openQuestion(
  question: AskedQuestion,
  { host, request: { earlier } }: { readonly host: BorderHost; readonly request: Pick<RunRequest, 'earlier'> },
  deliver: (answer: BorderAnswer) => void,
  isAgain = false,
): OpenQuestion {
  const { id, op, payload, body } = question;
  const bytes = payload.length + (body?.length ?? 0);
  if (op === 'timer' && earlier === undefined) {
    const ms = 'firesInMs' in question ? (question.firesInMs ?? 0) : readTimerMs(payload);
    const timeout = setTimeout(deliver, ms, { ok: true, payload: '' });
    return { op, payload, bytes, firesAt: performance.now() + ms, cancel: () => clearTimeout(timeout) };
  }
  const controller = new AbortController();
  const request: BorderRequest = { id, op, payload, ...(body && { body }), ...(isAgain && { again: true }) };
  host.answer(request, controller.signal).then(deliver, () => {
    deliver({ ok: false, code: 'internal', message: 'The host could not answer.' });
  });
  return { op, payload, ...(body && { body }), bytes, cancel: () => controller.abort() };
}

/** What the guest took back is not waited for any more. */
export function takeBackQuestions(
  { open }: Pick<CellCall, 'open'>,
  { cancelled = [] }: Pick<CallSliceResult, 'cancelled'>,
): void {
  for (const id of cancelled) {
    open.get(id)?.cancel();
    open.delete(id);
  }
}

/** The guest's own code made the payload, but nothing that comes from a guest is believed. */
function readTimerMs(payload: string): number {
  return Math.min(Number(/^\{"ms":(\d{1,10})\}$/.exec(payload)?.[1] ?? 0), 0x7fffffff);
}
