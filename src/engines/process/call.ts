import type { BorderHost } from '../../border/border.ts';
import type { GuestCall } from './guest-channel.ts';

/** A call of the hook that hands state over, with JSON text as its argument; empty asks for the state. */
export function withState<Call extends GuestCall>(call: Call, argumentJson: string): Call {
  return { ...call, hook: { name: 'onReload', argumentJson } };
}

/** Tells the call which operations it did not wait for. */
export function noteAbandoned(host: BorderHost, operations: readonly string[]): void {
  if (operations.length === 0) return;
  const named = operations.slice(0, 5).map((op) => `context.${op}`);
  const text = `The handler returned before these host calls were done, so they may not have happened: ${named.join(', ')}. Await them.`;
  host.log({ level: 'warn', text, atMs: Date.now() });
}

/** Waits for the back-off of a program that crashed; not at all for 0. */
export function waitOut(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
