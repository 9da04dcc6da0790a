/** Timers of a guest that is a process: they end with the call that made them, as in every other engine. */
import { defineGlobal } from '../cell/web/define.ts';

type Callback = (...given: unknown[]) => unknown;
type SetTimer = (callback: unknown, delayMs?: number, ...given: unknown[]) => unknown;

const open = new Set<unknown>();
const clear = globalThis.clearTimeout as unknown as (handle: unknown) => void;

/** Puts timers in place that `forgetTimers` knows of. */
export function trackTimers(): void {
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const native = globalThis[name] as unknown as SetTimer;
    const isOnce = name === 'setTimeout';
    const tracked: SetTimer = (callback, delayMs, ...given) => {
      if (typeof callback !== 'function') return native(callback, delayMs, ...given);
      const handle = native(
        (...args: unknown[]) => {
          if (isOnce) open.delete(handle);
          return (callback as Callback)(...args);
        },
        delayMs,
        ...given,
      );
      open.add(handle);
      return handle;
    };
    // What `util.promisify` makes of it.
    for (const key of Object.getOwnPropertySymbols(native)) {
      const value = Object.getOwnPropertyDescriptor(native, key);
      if (value) Object.defineProperty(tracked, key, value);
    }
    defineGlobal(name, tracked);
  }
}

/** Ends the timers of the call before. */
export function forgetTimers(): void {
  for (const handle of open) clear(handle);
  open.clear();
}
