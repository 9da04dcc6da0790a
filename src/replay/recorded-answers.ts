import {
  type BorderAnswer,
  type BorderCrossing,
  type BorderHost,
  type BorderRequest,
  type BorderView,
  type LogLine,
  unanswered,
} from '../border/border.ts';
import { canonicalJson } from '../tools/canonical-json.ts';

/** What a run asked otherwise than the one that was recorded; timers aside. */
export interface AskedOtherwise {
  /** Asked now and not recorded. */
  readonly unforeseen: readonly GuestQuestion[];
  /** Recorded and not asked now. */
  readonly missing: readonly GuestQuestion[];
  /** Both asked for the same, but not in the same order. */
  readonly isReordered: boolean;
}

/** A question of a guest; `payload` is JSON text. */
export type GuestQuestion = Pick<BorderRequest, 'op' | 'payload'>;

/** How what the recording does not know is answered. Must not reject. */
export type AnswerUnforeseen = (request: BorderRequest, signal: AbortSignal) => Promise<BorderAnswer>;

interface Recorded extends GuestQuestion {
  readonly id: number;
  readonly answer: BorderAnswer;
  isAsked: boolean;
  /** Hands the answer over; there while the guest waits for it. */
  deliver?: () => void;
}

/** What answers are given with beside the recorded ones. */
export interface RecordedAnswersParts {
  readonly answerUnforeseen: AnswerUnforeseen;
  /** The engine says when its guest waits; where it does not, a while without a question says so. */
  readonly tellsWaiting: boolean;
  /** Told when what the guest waits for was never answered either: the recorded call ended here. */
  readonly onRecordingOver: () => void;
}

const timerOp = 'timer';
const idleMs = 25;
const maxQuotedChars = 1024 * 1024;
const emptyView: BorderView = { config: {}, env: {}, denied: {} };

/**
 * The host side of a run that goes the way of a recorded one: each question gets its recorded answer, in the order in which the answers
 * came then. Nothing is carried out. A timer that was not recorded fires when the guest waits for nothing else.
 */
export class RecordedAnswers implements BorderHost {
  readonly logs: LogLine[] = [];
  readonly #recorded: readonly Recorded[];
  readonly #byQuestion: ReadonlyMap<string, Recorded[]>;
  readonly #view: BorderView;
  readonly #parts: RecordedAnswersParts;
  readonly #unforeseen: GuestQuestion[] = [];
  #quotedChars = 0;
  #timers: { readonly ms: number; readonly fire: () => void }[] = [];
  #next = 0;
  #latestId = 0;
  #isReordered = false;
  #answering = 0;
  #isWaiting = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(crossings: readonly BorderCrossing[], parts: RecordedAnswersParts) {
    this.#parts = parts;
    this.#recorded = crossings.flatMap((crossing) => (crossing.id > 0 ? [{ ...crossing, isAsked: false }] : []));
    // Of two equal questions the one that was asked first is meant first.
    const inOrder = this.#recorded.toSorted((one, other) => one.id - other.id);
    this.#byQuestion = Map.groupBy(inOrder, keyOf);
    this.#view = readView(crossings) ?? emptyView;
  }

  answer(request: BorderRequest, signal: AbortSignal): Promise<BorderAnswer> {
    const { op, payload } = request;
    const found = this.#byQuestion.get(keyOf(request))?.find(({ isAsked }) => !isAsked);
    if (found === undefined && op !== timerOp) {
      // What was asked counts to the last question; its words only as long as somebody may read them.
      this.#quotedChars += payload.length;
      this.#unforeseen.push({ op, payload: this.#quotedChars > maxQuotedChars ? '' : payload });
      this.#answering++;
      return this.#parts.answerUnforeseen(request, signal).finally(() => {
        this.#answering--;
        this.#lookSoon();
      });
    }
    const answered = new Promise<BorderAnswer>((resolve) => {
      if (found === undefined) this.#addTimer(payload, resolve, signal);
      else this.#expect(found, resolve, signal);
    });
    this.#lookSoon();
    return answered;
  }

  view(): BorderView {
    return this.#view;
  }

  log(line: LogLine): void {
    this.logs.push(line);
  }

  progress(): void {}

  waiting(isWaiting: boolean): void {
    this.#isWaiting = isWaiting;
    if (isWaiting) this.#lookSoon();
  }

  /** What was asked otherwise, once the run is over. */
  end(): AskedOtherwise {
    clearTimeout(this.#idle);
    const missing = this.#recorded.filter(({ isAsked, op, answer }) => !isAsked && op !== timerOp && !isUnanswered(answer));
    return {
      unforeseen: this.#unforeseen,
      missing: missing.map(({ op, payload }) => ({ op, payload })),
      isReordered: this.#isReordered,
    };
  }

  #expect(recorded: Recorded, resolve: (answer: BorderAnswer) => void, signal: AbortSignal): void {
    recorded.isAsked = true;
    if (recorded.op !== timerOp && recorded.id < this.#latestId) this.#isReordered = true;
    this.#latestId = Math.max(this.#latestId, recorded.id);
    if (isUnanswered(recorded.answer)) return;
    recorded.deliver = () => {
      delete recorded.deliver;
      resolve(recorded.answer);
    };
    // The guest took it back.
    signal.addEventListener('abort', () => delete recorded.deliver, { once: true });
    this.#deliverDue();
  }

  #addTimer(payload: string, resolve: (answer: BorderAnswer) => void, signal: AbortSignal): void {
    const timer = { ms: readMs(payload), fire: () => resolve({ ok: true, payload: '' }) };
    this.#timers.push(timer);
    signal.addEventListener('abort', () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    });
  }

  /** Hands over what is next by the recording, as far as the guest has asked for it. */
  #deliverDue(): void {
    for (let due = this.#recorded[this.#next]; due !== undefined; due = this.#recorded[++this.#next]) {
      if (due.deliver) due.deliver();
      else if (!due.isAsked && !isUnanswered(due.answer)) return;
    }
  }

  /** After what is on its way to the guest has reached it. */
  #lookSoon(): void {
    clearTimeout(this.#idle);
    const look = () => {
      if (this.#answering === 0 && (this.#isWaiting || !this.#parts.tellsWaiting)) this.#goOn();
    };
    if (this.#parts.tellsWaiting) setImmediate(look);
    else this.#idle = setTimeout(look, idleMs);
  }

  /** The guest waits, and what the recording has next it does not ask for, or not yet. */
  #goOn(): void {
    const open = this.#recorded.find(({ deliver }) => deliver !== undefined);
    const timer = this.#timers.toSorted((one, other) => one.ms - other.ms)[0];
    if (open?.deliver) open.deliver();
    else if (timer) {
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer.fire();
    } else {
      if (this.#parts.tellsWaiting) this.#parts.onRecordingOver();
      return;
    }
    this.#lookSoon();
  }
}

function isUnanswered(answer: BorderAnswer): boolean {
  return !answer.ok && answer.code === (unanswered.ok ? '' : unanswered.code);
}

/** Timers have numbers of their own in every cell. */
function keyOf({ op, payload }: GuestQuestion): string {
  return op === timerOp ? `${op} ${readMs(payload)}` : `${op} ${inOneSpelling(payload)}`;
}

function inOneSpelling(payload: string): string {
  try {
    return canonicalJson(JSON.parse(payload));
  } catch {
    return payload;
  }
}

function readMs(payload: string): number {
  return Number(/"ms":(\d+)/.exec(payload)?.[1] ?? 0);
}

/** The settings of guests that get them all at once; the daemon recorded them itself. */
function readView(crossings: readonly BorderCrossing[]): BorderView | undefined {
  const answer = crossings.find(({ id, op }) => id === 0 && op === 'view')?.answer;
  if (!answer?.ok) return undefined;
  try {
    const { config = {}, env = {}, denied = {} }: Partial<BorderView> = JSON.parse(answer.payload);
    return { config, env, denied };
  } catch {
    return undefined;
  }
}
