import type { BorderAnswer, BorderCrossing } from '../border/border.ts';

/** What is left of what an earlier run was answered at once, and how far its clock was from ours. */
export interface AnsweredAtOnce {
  readonly answered: readonly BorderCrossing[];
  readonly clockOffsetMs: number;
}

/** What a guest is answered at once where its call goes the way of an earlier one; each answer is given once, in their order. */
export class EarlierAnswers {
  readonly #answered: BorderCrossing[];
  readonly #clockOffsetMs: number;
  #latestMs = 0;

  constructor({ answered, clockOffsetMs }: AnsweredAtOnce) {
    this.#answered = [...answered];
    this.#clockOffsetMs = clockOffsetMs;
  }

  take(op: string, payload: string): BorderAnswer | undefined {
    const at = this.#answered.findIndex((crossing) => crossing.op === op && crossing.payload === payload);
    return at < 0 ? undefined : this.#answered.splice(at, 1)[0]?.answer;
  }

  takeText(op: string, payload: string): string | undefined {
    const answer = this.take(op, payload);
    return answer?.ok === true ? answer.payload : undefined;
  }

  /** What the host made: a text, or bytes. */
  takeMade(op: string, payload: string): string | Uint8Array | undefined {
    const answer = this.take(op, payload);
    return answer?.ok === true ? (answer.body ?? answer.payload) : undefined;
  }

  /** A reading beyond those of the earlier run goes on from them at the pace of our own clock, and never back. */
  readClock(): string {
    const recorded = this.takeText('clock', '');
    this.#latestMs = recorded === undefined ? Math.max(this.#latestMs, Date.now() + this.#clockOffsetMs) : Number(recorded);
    return String(this.#latestMs);
  }
}

/** The three words of a recorded seed; undefined when there are none. */
export function readSeed(text: string | undefined): readonly [number, number, number] | undefined {
  if (text === undefined) return undefined;
  const [a, b, c] = text.split(',').map(Number);
  return a !== undefined && b !== undefined && c !== undefined ? [a, b, c] : undefined;
}
