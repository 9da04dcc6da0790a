import type { BorderAnswer, BorderProgress, LogLine } from './border.ts';

/** The questions of a call that wait at the same time may hold so much, or twice its arguments if that is more. */
const maxPendingHostBytes = 6 * 1024 * 1024;

/** How much the questions of a call may hold at once, in bytes. */
export function pendingBytesOf(argumentBytes: number): number {
  return Math.max(maxPendingHostBytes, 2 * argumentBytes);
}

/** What one call may ask and tell. */
export interface MeterBounds {
  readonly hostCalls: number;
  /** Questions that wait at once, and the bytes that they hold. */
  readonly pendingHostCalls: number;
  readonly pendingHostBytes: number;
  readonly logLines: number;
  readonly logBytes: number;
  /** Reports of how far the call is. */
  readonly progress: number;
}

type Refusal = Extract<BorderAnswer, { ok: false }>;

/** The longest line of a log; what is beyond is cut. */
const maxLineChars = 16_384;
const maxProgressMessageChars = 500;
const levels: readonly LogLine['level'][] = ['debug', 'info', 'warn', 'error'];

/** Counts and bounds what a guest asks and tells during one call, in the same words on every engine. */
export class CallMeter {
  readonly #bounds: MeterBounds;
  #hostCalls = 0;
  #logLines = 0;
  #logBytes = 0;
  #isLogFull = false;
  #progress = 0;

  constructor(bounds: MeterBounds) {
    this.#bounds = bounds;
  }

  /** Questions so far, without those beyond the bound. */
  get hostCalls(): number {
    return this.#hostCalls;
  }

  /** Lines that were taken. */
  get logLines(): number {
    return this.#logLines;
  }

  /** Counts one question beside `pending` that wait; the refusal when it is one too many. */
  ask(op: string, pending: number): Refusal | undefined {
    const { hostCalls, pendingHostCalls } = this.#bounds;
    if (this.#hostCalls >= hostCalls) {
      return { ok: false, code: 'host-calls-exceeded', message: 'The call asked the host too often (limits.hostCalls).' };
    }
    this.#hostCalls++;
    if (pending < pendingHostCalls) return undefined;
    const message = `Too many host calls wait at once for "${op}" (limits.pendingHostCalls is ${pendingHostCalls}). Await some first.`;
    return { ok: false, code: 'pending-host-calls-exceeded', message };
  }

  /** The refusal when the questions that wait hold more than the host takes. */
  hold(pendingBytes: number): Refusal | undefined {
    if (pendingBytes <= this.#bounds.pendingHostBytes) return undefined;
    const message = 'The host calls that wait at once hold more bytes than the host takes. Send less, or await some first.';
    return { ok: false, code: 'pending-host-calls-exceeded', message };
  }

  /** Takes a line, cut to what fits; nothing is read once the log is full, which it says itself in its last line. */
  log(read: (maxBytes: number) => LogLine): LogLine | undefined {
    const { logLines, logBytes } = this.#bounds;
    if (this.#isLogFull) return undefined;
    if (this.#logLines >= logLines || this.#logBytes >= logBytes) {
      this.#isLogFull = true;
      return { level: 'warn', text: 'The log of this call is full; what follows is dropped.', atMs: Date.now() };
    }
    const line = read(logBytes - this.#logBytes);
    const text = line.text.slice(0, Math.min(maxLineChars, logBytes - this.#logBytes));
    this.#logLines++;
    this.#logBytes += Buffer.byteLength(text);
    return text === line.text ? line : { ...line, text };
  }

  /** Takes a report of progress as the guest wrote it; undefined when it is none, or one too many. */
  progress(told: Readonly<Record<string, unknown>>): BorderProgress | undefined {
    const { done, total, message } = told;
    if (this.#progress >= this.#bounds.progress || typeof done !== 'number' || !Number.isFinite(done)) return undefined;
    this.#progress++;
    return {
      done,
      ...(typeof total === 'number' && Number.isFinite(total) ? { total } : {}),
      ...(typeof message === 'string' ? { message: message.slice(0, maxProgressMessageChars) } : {}),
    };
  }
}

/** A line as a guest tells it. */
export function readLogLine(told: Readonly<Record<string, unknown>>): LogLine {
  const { level, text, isWarning } = told;
  return {
    level: levels.find((known) => known === level) ?? 'info',
    text: String(text ?? ''),
    atMs: Date.now(),
    ...(isWarning === true && { isWarning: true }),
  };
}
