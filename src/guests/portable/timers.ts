/** Timers of a module that cannot wait: they run in the order of their time, as soon as nothing else is left to do. */

interface Timer {
  /** The question at the border that it answers. */
  readonly question: number;
  readonly timer: number | undefined;
  readonly dueMs: number;
}

let timers: Timer[] = [];
let passedMs = 0;

/** Adds what `timer {ms, id?}` asks for. */
export function addTimer(question: number, payload: string): void {
  const { ms, id } = JSON.parse(payload);
  timers.push({ question, timer: id, dueMs: passedMs + Number(ms) });
}

/** Takes one away before it is due. */
export function dropTimer(payload: string): void {
  const { id } = JSON.parse(payload);
  timers = timers.filter(({ timer }) => timer !== id);
}

/** The question of the next timer, which is over then; of two for the same time the one that was set first. */
export function takeNextTimer(): number | undefined {
  const next = timers.reduce<Timer | undefined>((best, each) => (best && best.dueMs <= each.dueMs ? best : each), undefined);
  if (!next) return undefined;
  timers = timers.filter((each) => each !== next);
  passedMs = Math.max(passedMs, next.dueMs);
  return next.question;
}
