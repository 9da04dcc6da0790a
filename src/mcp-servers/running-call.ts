import { AsyncLocalStorage } from 'node:async_hooks';
import type { CheckedFetch } from '../capabilities/network/checked-fetch.ts';
import type { HostedCall } from '../tools/hosted/hosted-types.ts';

/** The call for which something is sent and received. */
export interface RunningCall {
  readonly call: HostedCall;
  /** Aborts when the call is over, however it ended. */
  readonly over: AbortSignal;
}

/** Whatever runs within a call of a server's tool knows which one. */
export const runningCall = new AsyncLocalStorage<RunningCall>();

const callMethods = /"method":"(?:tools\/call|prompts\/get|resources\/read|completion\/complete)"/;

/** Ends the stream of a call with the call: the older era leaves it open for as long as the server likes. */
export function endWithCall(fetch: CheckedFetch): CheckedFetch {
  return (url, init = {}) => {
    const over = runningCall.getStore()?.over;
    const isOfCall = init.method === 'GET' || (typeof init.body === 'string' && callMethods.test(init.body));
    if (over === undefined || !isOfCall) return fetch(url, init);
    const { signal } = init;
    return fetch(url, { ...init, signal: signal == null ? over : AbortSignal.any([signal, over]) });
  };
}
