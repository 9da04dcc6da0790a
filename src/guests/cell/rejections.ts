/** Promises that were rejected and that nobody handles: told at the end of the call, with its warnings. */
import { warn } from './warnings.ts';

const maxTold = 5;
const GuestMap = Map;
let open = new GuestMap<unknown, unknown>();

/** Called by the engine when a promise is rejected that has no handler, and again when it gets one. Runs no code of a plugin. */
export function trackRejection(promise: unknown, reason: unknown, isHandled: unknown): void {
  if (isHandled) open.delete(promise);
  else open.set(promise, reason);
}

/** Tells of what is still open. */
export function tellRejections(): void {
  if (open.size === 0) return;
  let left = maxTold;
  for (const reason of open.values()) {
    if (left-- > 0) warn('error', 'Unhandled rejection:', reason);
  }
  forgetRejections();
}

/** Forgets them: the call has ended. */
export function forgetRejections(): void {
  open = new GuestMap();
}
