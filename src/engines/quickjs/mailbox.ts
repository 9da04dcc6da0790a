import type { PackedResult, PackedSlices } from './protocol.ts';
import { maxSlices } from './schedule/control.ts';

/**
 * The memory in which the usual calls go to a thread and their ends come back. To post a message takes each side longer than most calls
 * take: here a message is posted only to wake a side that sleeps. One trip is under way at a time, and its ends lie here until the next.
 */
const TEXT_BYTES = 64 * 1024;
/** A UTF-16 unit is at most three bytes of UTF-8. */
const maxTextLength = Math.floor(TEXT_BYTES / 3);

const TRIPS = 0;
const ENDS = 1;
const POSTED = 2;
const HANDLED = 3;
const IS_THREAD_ASLEEP = 4;
const IS_MAIN_ASLEEP = 5;
const STATE_BYTES = 64;

const TRIP_HEAD = 3;
const WORDS_OF_SLICE = 5;
const WORDS_OF_END = 3;
const TRIP_WORDS = TRIP_HEAD + maxSlices * WORDS_OF_SLICE;
const END_WORDS = maxSlices * WORDS_OF_END;
const TEXT_AT = STATE_BYTES + 8 * (TRIP_WORDS + END_WORDS);

/** Size of the shared memory. */
export const MAILBOX_BYTES = TEXT_AT + 2 * TEXT_BYTES;

/** What wakes a side that sleeps. */
export const bell = 'bell';

function openMailbox(memory: SharedArrayBuffer) {
  return {
    state: new Int32Array(memory, 0, STATE_BYTES / 4),
    trip: new Float64Array(memory, STATE_BYTES, TRIP_WORDS),
    ends: new Float64Array(memory, STATE_BYTES + 8 * TRIP_WORDS, END_WORDS),
    tripText: Buffer.from(memory, TEXT_AT, TEXT_BYTES),
    endText: Buffer.from(memory, TEXT_AT + TEXT_BYTES, TEXT_BYTES),
  };
}

/** The main thread's side of a mailbox. */
export class MainMailbox {
  readonly #box: ReturnType<typeof openMailbox>;
  readonly #ring: () => void;
  #read = 0;
  #readBytes = 0;

  constructor(memory: SharedArrayBuffer, ring: () => void) {
    this.#box = openMailbox(memory);
    this.#ring = ring;
    Atomics.store(this.#box.state, IS_THREAD_ASLEEP, 1);
    Atomics.store(this.#box.state, IS_MAIN_ASLEEP, 1);
  }

  /** A message goes to the thread: until it is handled, nothing may overtake it here. */
  notePosted(): void {
    Atomics.add(this.#box.state, POSTED, 1);
  }

  /** Sends a trip when there is room for it and nothing is on its way to the thread; all ends of the last one must have been taken. */
  send(slices: PackedSlices): boolean {
    const { state, trip, tripText } = this.#box;
    if (Atomics.load(state, POSTED) !== Atomics.load(state, HANDLED)) return false;
    let text = '';
    let word = 1;
    for (const item of slices) {
      trip[word++] = typeof item === 'string' ? item.length : item;
      if (typeof item === 'string') text += item;
    }
    if (text.length > maxTextLength) return false;
    trip[0] = word;
    trip[word] = tripText.write(text, 0);
    this.#read = 0;
    this.#readBytes = 0;
    Atomics.store(state, ENDS, 0);
    Atomics.add(state, TRIPS, 1);
    if (Atomics.exchange(state, IS_THREAD_ASLEEP, 0) === 1) this.#ring();
    return true;
  }

  /** Stays awake: the thread need not ring for an end. */
  stayAwake(): void {
    Atomics.store(this.#box.state, IS_MAIN_ASLEEP, 0);
  }

  /** Hands the ends over that are there. */
  take(onEnd: (end: PackedResult) => void): void {
    const { state, ends, endText } = this.#box;
    while (this.#read < Atomics.load(state, ENDS)) {
      const at = this.#read++ * WORDS_OF_END;
      const from = this.#readBytes;
      this.#readBytes += ends[at + 2] ?? 0;
      onEnd([ends[at] ?? 0, endText.toString('utf8', from, this.#readBytes), ends[at + 1] ?? 0]);
    }
  }

  /** The same, and from now on the thread rings. */
  takeAndSleep(onEnd: (end: PackedResult) => void): void {
    this.take(onEnd);
    Atomics.store(this.#box.state, IS_MAIN_ASLEEP, 1);
    this.take(onEnd);
  }
}

/** The side of a thread. */
export class ThreadMailbox {
  readonly #box: ReturnType<typeof openMailbox>;
  readonly #ring: () => void;
  #seen = 0;
  #written = 0;
  #writtenBytes = 0;
  #isOpen = false;

  constructor(memory: SharedArrayBuffer, ring: () => void) {
    this.#box = openMailbox(memory);
    this.#ring = ring;
  }

  hasTrip(): boolean {
    return Atomics.load(this.#box.state, TRIPS) !== this.#seen;
  }

  /** The next trip, if there is one. */
  receive(): PackedSlices | undefined {
    const { state, trip, tripText } = this.#box;
    if (!this.hasTrip()) return undefined;
    this.#seen = Atomics.load(state, TRIPS);
    this.#written = 0;
    this.#writtenBytes = 0;
    this.#isOpen = true;
    const last = trip[0] ?? 0;
    const text = tripText.toString('utf8', 0, trip[last]);
    let at = 0;
    const take = (word: number): string => {
      const from = at;
      at += trip[word] ?? 0;
      return text.slice(from, at);
    };
    const slices: (string | number)[] = [take(1)];
    for (let word = 2; word < last; word += WORDS_OF_SLICE) {
      slices.push(trip[word] ?? 0, trip[word + 1] ?? 0, take(word + 2), take(word + 3), take(word + 4));
    }
    return slices;
  }

  /** Lays the end of a call of the last trip down, if there is room for it; nobody is woken. */
  send([serial, text, cpuMs]: PackedResult): boolean {
    const { state, ends, endText } = this.#box;
    if (!this.#isOpen || this.#written >= maxSlices || text.length * 3 > TEXT_BYTES - this.#writtenBytes) return false;
    const at = this.#written++ * WORDS_OF_END;
    const bytes = endText.write(text, this.#writtenBytes);
    this.#writtenBytes += bytes;
    ends[at] = serial;
    ends[at + 1] = cpuMs;
    ends[at + 2] = bytes;
    Atomics.store(state, ENDS, this.#written);
    return true;
  }

  /** What follows goes as messages until the next trip, so that it does not overtake one. */
  close(): void {
    this.#isOpen = false;
  }

  /** Wakes the main thread where it sleeps. */
  ringIfAsleep(): void {
    if (Atomics.exchange(this.#box.state, IS_MAIN_ASLEEP, 0) === 1) this.#ring();
  }

  noteHandled(): void {
    Atomics.add(this.#box.state, HANDLED, 1);
  }

  /** True when a message is on its way here. */
  hasPosted(): boolean {
    return Atomics.load(this.#box.state, POSTED) !== Atomics.load(this.#box.state, HANDLED);
  }

  stayAwake(): void {
    Atomics.store(this.#box.state, IS_THREAD_ASLEEP, 0);
  }

  /** From now on the main thread rings; false when a trip came meanwhile. */
  sleep(): boolean {
    const { state } = this.#box;
    Atomics.store(state, IS_THREAD_ASLEEP, 1);
    if (!this.hasTrip()) return true;
    Atomics.store(state, IS_THREAD_ASLEEP, 0);
    return false;
  }
}
