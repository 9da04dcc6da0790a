import type { BorderAnswer, BorderHost } from '../border.ts';
import type { ActiveCall, OpenQuestion } from './active-call.ts';
import type { Question } from './protocol.ts';

/** Carries a question to whoever answers it: timers here, everything else over the border. `deliver` is called at most once. */
export function openQuestion(question: Question, host: BorderHost, deliver: (answer: BorderAnswer) => void): OpenQuestion {
  const { op, payload } = question;
  const bytes = payload.length + (question.body?.length ?? 0);
  if (op === 'timer') {
    const { ms, id } = readTimer(payload);
    const timeout = setTimeout(deliver, ms, { ok: true, payload: '' });
    return { op, payload, bytes, timer: id, cancel: () => clearTimeout(timeout) };
  }
  const controller = new AbortController();
  const request = { id: question.id, op, payload, ...(question.body ? { body: question.body } : {}) };
  host.answer(request, controller.signal).then(deliver, () => {
    deliver({ ok: false, code: 'internal', message: 'The host could not answer.' });
  });
  return { op, payload, bytes, cancel: () => controller.abort() };
}

/** Logs which host calls were not awaited when the handler returned. Timers and clean-up do not count. */
export function noteAbandoned({ open, host }: Pick<ActiveCall, 'open' | 'host'>, unsent: readonly Question[]): void {
  const operations = new Set([...open.values(), ...unsent].map(({ op }) => op).filter((op) => op !== 'timer' && op !== 'fetch.cancel'));
  if (operations.size === 0) return;
  const named = [...operations].slice(0, 5).map((op) => `context.${op.slice(0, 80)}`);
  const text = `The handler returned before these host calls were done, so they may not have happened: ${named.join(', ')}. Await them.`;
  host.log({ level: 'warn', text, atMs: Date.now() });
}

/** The guest's own code made the payload, but nothing that comes from a guest is believed. */
function readTimer(payload: string): { ms: number; id: number } {
  const [ms, id] = /^\{"ms":(\d{1,10}),"id":(\d{1,15})\}$/.exec(payload)?.slice(1) ?? ['0', '-1'];
  return { ms: Math.min(Number(ms), 0x7fffffff), id: Number(id) };
}
