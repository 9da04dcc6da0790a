import { webcrypto } from 'node:crypto';
import type { BorderCrossing } from '../../../border/border.ts';
import { type AnsweredAtOnce, EarlierAnswers } from '../../earlier-answers.ts';

const maxCrossings = 2000;
const maxRandomBytes = 256 * 1024;
const nanosecondsPerMs = 1_000_000;

/** What one call draws from the clock and at random: kept for its recording, or taken from that of an earlier one. */
export class DrawnValues {
  readonly crossings: BorderCrossing[] = [];
  /** More was drawn than is kept. */
  isCut = false;
  readonly #earlier: EarlierAnswers | undefined;
  #randomBytes = 0;

  constructor(earlier: AnsweredAtOnce | undefined) {
    this.#earlier = earlier && new EarlierAnswers(earlier);
  }

  /** Nanoseconds: since 1970, or for a clock that is not the wall's since some moment. */
  readClock(isWall: boolean): bigint {
    const op = isWall ? 'clock.wall' : 'clock.elapsed';
    const drawn =
      this.#earlier?.takeText(op, '') ?? String(Math.round((isWall ? Date.now() : performance.now()) * nanosecondsPerMs));
    this.#keep({ id: 0, op, payload: '', answer: { ok: true, payload: drawn } });
    return BigInt(drawn);
  }

  /** At most 65,536 bytes. */
  drawBytes(length: number): Uint8Array {
    const drawn = this.#earlier?.takeMade('random', String(length));
    const bytes =
      drawn instanceof Uint8Array && drawn.length === length ? drawn : webcrypto.getRandomValues(new Uint8Array(length));
    this.#randomBytes += length;
    this.#keep({ id: 0, op: 'random', payload: String(length), answer: { ok: true, payload: '', body: bytes } });
    return bytes;
  }

  #keep(crossing: BorderCrossing): void {
    if (this.crossings.length >= maxCrossings || this.#randomBytes > maxRandomBytes) this.isCut = true;
    else this.crossings.push(crossing);
  }
}
