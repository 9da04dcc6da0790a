/** node:timers: the globals. */
interface Timers {
  readonly setTimeout: (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => unknown;
  readonly setInterval: Timers['setTimeout'];
  readonly setImmediate: (callback: (...args: unknown[]) => void, ...args: unknown[]) => unknown;
  readonly clearTimeout: (timer: unknown) => void;
  readonly clearInterval: Timers['clearTimeout'];
  readonly clearImmediate: Timers['clearTimeout'];
}

const globals: Timers = Object(globalThis);
export const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globals;
export * as promises from './promises.ts';
