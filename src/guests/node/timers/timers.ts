/** node:timers: the globals. */
type Timer = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => unknown;
type Clear = (timer: unknown) => void;

export const setTimeout: Timer = Reflect.get(globalThis, 'setTimeout');
export const setInterval: Timer = Reflect.get(globalThis, 'setInterval');
export const setImmediate: (callback: (...args: unknown[]) => void, ...args: unknown[]) => unknown = Reflect.get(
  globalThis,
  'setImmediate',
);
export const clearTimeout: Clear = Reflect.get(globalThis, 'clearTimeout');
export const clearInterval: Clear = Reflect.get(globalThis, 'clearInterval');
export const clearImmediate: Clear = Reflect.get(globalThis, 'clearImmediate');

export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
