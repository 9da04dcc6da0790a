/** Timers: the guest keeps them in the order of their time, and the host waits for the first of them alone. */
import { setAlarm } from '../border.ts';
import { readClock } from '../clock.ts';
import { reportError } from '../warnings.ts';

type Callback = (...args: unknown[]) => unknown;

interface Timer {
  readonly id: number;
  readonly delayMs: number;
  readonly repeats: boolean;
  readonly run: () => unknown;
  dueMs: number;
}

/** What the host waits for. */
interface Alarm {
  readonly dueMs: number;
  readonly cancel: () => void;
}

const maxDelayMs = 0x7fffffff;

let open = new Map<number, Timer>();
/** The open timers that do not run just now, the next one first. */
let queue: Timer[] = [];
let alarm: Alarm | undefined;
let nextId = 1;
/** When the timer that ran last was due: the clock may be a little behind, or stand still where nothing can wait. */
let reachedMs = 0;

/** What setTimeout returns: an object as in Node, a number where one is needed. */
class Timeout {
  readonly #timer: Timer;

  constructor(timer: Timer) {
    this.#timer = timer;
  }
  refresh(): this {
    removeTimer(this.#timer);
    addTimer(this.#timer);
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return open.has(this.#timer.id);
  }
  close(): this {
    clearTimer(this);
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.#timer.id;
  }
}

/** Drops all timers: the call that set them has ended. */
export function forgetTimers(): void {
  open = new Map();
  queue = [];
  alarm = undefined;
}

export function setTimeout(callback: Callback, ms = 0, ...args: unknown[]): Timeout {
  return startTimer('setTimeout', callback, Number(ms), args);
}

export function setInterval(callback: Callback, ms = 0, ...args: unknown[]): Timeout {
  return startTimer('setInterval', callback, Number(ms), args);
}

export function setImmediate(callback: Callback, ...args: unknown[]): Timeout {
  return startTimer('setImmediate', callback, 0, args);
}

/** Takes what a timer function returned, or its number. Anything else is ignored, as on the web. */
export function clearTimer(handle: unknown): void {
  const timer = open.get(Number(handle ?? 0));
  if (!timer) return;
  removeTimer(timer);
  if (timer.dueMs === alarm?.dueMs) awaitFirst();
}

export function queueMicrotask(callback: () => void): void {
  requireFunction('queueMicrotask', callback);
  Promise.resolve().then(callback).catch(reportError);
}

function startTimer(name: string, callback: Callback, ms: number, args: readonly unknown[]): Timeout {
  requireFunction(name, callback);
  const repeats = name === 'setInterval';
  const delayMs = Math.min(Math.max(Math.trunc(ms) || 0, repeats ? 1 : 0), maxDelayMs);
  const run = (): unknown => callback.apply(handle, [...args]);
  const handle: Timeout = new Timeout({ id: nextId++, delayMs, repeats, run, dueMs: 0 });
  return handle.refresh();
}

/** Throws what the host refuses; while the plugin loads there are no timers, which packages that set some must survive. */
function addTimer(timer: Timer): void {
  const now = readNow();
  timer.dueMs = now + timer.delayMs;
  queue.splice(queue.findLastIndex(({ dueMs }) => dueMs <= timer.dueMs) + 1, 0, timer);
  open.set(timer.id, timer);
  try {
    awaitFirst(now);
  } catch (error) {
    removeTimer(timer);
    if ((error as { code?: unknown }).code !== 'not-supported') throw error;
    reportError(error);
  }
}

function removeTimer(timer: Timer): void {
  open.delete(timer.id);
  const at = queue.indexOf(timer);
  if (at >= 0) queue.splice(at, 1);
}

/** Has the host wait for the first timer, if it does not yet. */
function awaitFirst(now = readNow()): void {
  const first = queue[0];
  if (first?.dueMs === alarm?.dueMs) return;
  alarm?.cancel();
  alarm = undefined;
  if (!first) return;
  const { dueMs } = first;
  const next: Alarm = { dueMs, ...setAlarm(Math.max(dueMs - now, 0), () => ring(next)) };
  alarm = next;
}

/** Another may be set by now: an alarm that was answered can no longer be taken back. */
function ring(heard: Alarm): void {
  if (alarm !== heard) return;
  reachedMs = Math.max(reachedMs, heard.dueMs);
  alarm = undefined;
  runDue();
}

/** Runs the timers that are due, each in a job of its own: what one of them resolves goes on before the next. */
function runDue(): void {
  const timer = queue.shift();
  try {
    if (timer) runTimer(timer);
    if ((queue[0]?.dueMs ?? Number.POSITIVE_INFINITY) <= reachedMs) Promise.resolve().then(runDue);
    else if (queue.length > 0) awaitFirst();
  } catch (error) {
    reportError(error);
  }
}

function runTimer(timer: Timer): void {
  if (!timer.repeats) open.delete(timer.id);
  try {
    timer.run();
  } catch (error) {
    reportError(error);
  }
  if (timer.repeats && open.has(timer.id)) addTimer(timer);
}

function readNow(): number {
  return Math.max(reachedMs, readClock());
}

function requireFunction(name: string, callback: unknown): void {
  if (typeof callback !== 'function') throw new TypeError(`${name} expects a function, got ${typeof callback}`);
}
