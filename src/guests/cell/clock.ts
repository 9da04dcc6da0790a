/**
 * Time and chance. An image freezes both: the engine's own generator and clock origin are part of the copied memory, so
 * every call is seeded anew and every reading of the clock is asked of the host (and recorded for replays).
 */
import { askNow } from './border.ts';

const RealDate = Date;
const imul = Math.imul;

let a = 0x9e3779b9;
let b = 0x243f6a88;
let c = 0xb7e15162;
let counter = 1;
let readSeed: (() => readonly [number, number, number]) | undefined;

/** Has the generator (sfc32) start anew from three words that the host drew for this call; most calls never need them. */
export function seedRandom(read: () => readonly [number, number, number]): void {
  readSeed = read;
}

function startGenerator(seed: readonly [number, number, number]): void {
  readSeed = undefined;
  a = seed[0];
  b = seed[1];
  c = seed[2];
  counter = 1;
  for (let round = 0; round < 12; round++) nextWord();
}

/** Epoch ms as the host says. */
export function readClock(): number {
  return Number(askNow('clock', ''));
}

/** Puts the seeded generator and the host's clock in place of the frozen ones. */
export function installClock(): void {
  Math.random = () => {
    if (readSeed) startGenerator(readSeed());
    const high = nextWord() >>> 5;
    const low = nextWord() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  };
  const GuestDate = function (this: unknown, ...parts: unknown[]) {
    if (!new.target) return new RealDate(readClock()).toString();
    return Reflect.construct(RealDate, parts.length === 0 ? [readClock()] : parts, new.target);
  };
  GuestDate.prototype = RealDate.prototype;
  Object.defineProperty(RealDate.prototype, 'constructor', { value: GuestDate, writable: true, configurable: true });
  Object.defineProperty(GuestDate, 'name', { value: 'Date' });
  Object.defineProperty(GuestDate, 'length', { value: 7 });
  Object.assign(GuestDate, { now: readClock, parse: RealDate.parse, UTC: RealDate.UTC });
  (globalThis as { Date: unknown }).Date = GuestDate;
}

let origin: number | undefined;
let latest = 0;

/** Milliseconds since `performance` was first used in this cell, never backwards. */
export function readElapsed(): number {
  const now = Date.now();
  origin ??= now;
  latest = Math.max(latest, now - origin);
  return latest;
}

export const performance = {
  now: readElapsed,
  get timeOrigin(): number {
    readElapsed();
    return origin ?? 0;
  },
  toJSON: () => ({ timeOrigin: performance.timeOrigin }),
  // Nothing is kept of what is marked and measured.
  mark: (name: string) => ({ name, entryType: 'mark', startTime: readElapsed(), duration: 0 }),
  measure: (name: string) => ({ name, entryType: 'measure', startTime: 0, duration: readElapsed() }),
  clearMarks(): void {},
  clearMeasures(): void {},
  getEntries: () => [],
  getEntriesByName: () => [],
  getEntriesByType: () => [],
};

function nextWord(): number {
  const sum = (a + b + counter) | 0;
  counter = (counter + 1) | 0;
  a = b ^ (b >>> 9);
  b = (c + (c << 3)) | 0;
  c = ((c << 21) | (c >>> 11)) + sum;
  c |= 0;
  return imul(sum, 1);
}
