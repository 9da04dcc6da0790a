/** Timers: the host waits, the guest keeps the callbacks. */
import { ask, tell } from '../border.ts';
import { reportError } from '../warnings.ts';

type Callback = (...args: unknown[]) => unknown;

let active = new Map<number, Timeout>();
let nextId = 1;

/** What setTimeout returns: an object as in Node, a number where one is needed. */
class Timeout {
  readonly #id: number;

  constructor(id: number) {
    this.#id = id;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return active.has(this.#id);
  }
  close(): this {
    clearTimer(this);
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.#id;
  }
}

/** Drops all timers: the call that set them has ended. */
export function forgetTimers(): void {
  active = new Map();
}

export function setTimeout(callback: Callback, ms = 0, ...args: unknown[]): Timeout {
  return startTimer(callback, ms, args, false);
}

export function setInterval(callback: Callback, ms = 0, ...args: unknown[]): Timeout {
  return startTimer(callback, ms, args, true);
}

export function setImmediate(callback: Callback, ...args: unknown[]): Timeout {
  return startTimer(callback, 0, args, false);
}

/** Takes what a timer function returned, or its number. Anything else is ignored, as on the web. */
export function clearTimer(timer: unknown): void {
  const id = Number(timer ?? 0);
  if (active.delete(id)) tell('timer.cancel', JSON.stringify({ id }));
}

export function queueMicrotask(callback: () => void): void {
  requireFunction('queueMicrotask', callback);
  Promise.resolve().then(callback).catch(reportError);
}

function startTimer(callback: Callback, delay: unknown, args: unknown[], repeat: boolean): Timeout {
  requireFunction(repeat ? 'setInterval' : 'setTimeout', callback);
  const id = nextId++;
  const timer = new Timeout(id);
  const ms = Math.min(Math.max(Math.trunc(Number(delay)) || 0, repeat ? 1 : 0), 0x7fffffff);
  const wait = () => ask('timer', JSON.stringify({ ms, id })).then(fire, fail);
  const fire = () => {
    if (active.get(id) !== timer) return;
    if (!repeat) active.delete(id);
    try {
      callback.apply(timer, args);
    } catch (error) {
      reportError(error);
    }
    if (repeat && active.get(id) === timer) wait();
  };
  const fail = (error: unknown) => {
    if (active.delete(id)) reportError(error);
  };
  active.set(id, timer);
  wait();
  return timer;
}

function requireFunction(name: string, callback: unknown): void {
  if (typeof callback !== 'function') throw new TypeError(`${name} expects a function, got ${typeof callback}`);
}
