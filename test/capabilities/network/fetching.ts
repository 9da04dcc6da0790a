import { createFetch } from '../../../src/capabilities/fetch.ts';
import type { Resolve } from '../../../src/capabilities/network/resolve.ts';
import { HotcellError } from '../../../src/errors/hotcell-error.ts';
import { createUser, type TestUser } from '../capability-user.ts';

/** What a guest gets. */
export interface Fetched {
  readonly status: number;
  readonly headers: [string, string][];
  readonly url: string;
  readonly redirected: boolean;
  readonly truncated: boolean;
  readonly text: string;
  readonly bytes: number;
}

/** A fetch capability with names of its own: every name has the addresses of `names`, and no other name exists. */
export function createFetching(names: Readonly<Record<string, readonly string[]>> = {}, network: Partial<typeof defaults> = {}) {
  const resolve: Resolve = async (host) => names[host] ?? [];
  return wrapFetch(resolve, network);
}

const defaults = { maxResponseBytes: 1_000_000, timeoutMs: 5_000, maxRedirects: 5 };

/** The same with a resolver as it is. */
export function wrapFetch(resolve: Resolve, network: Partial<typeof defaults> = {}) {
  const capability = createFetch({ network: { ...defaults, ...network }, resolve });
  return {
    /** Fetches as a call that was granted `grant`, or as a given user. */
    fetch: async (url: string, who: TestUser | { grant: unknown }, init: Init = {}): Promise<Fetched> => {
      const user = 'uses' in who ? who : createUser(who.grant);
      const { body, signal, ...rest } = init;
      const request = {
        op: 'fetch',
        payload: JSON.stringify({ url, ...rest }),
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
      };
      const result = await capability.answer(request, user, signal ?? new AbortController().signal);
      const bytes = result.body ?? new Uint8Array();
      return { ...(result.payload as Fetched), text: Buffer.from(bytes).toString(), bytes: bytes.length };
    },
    [Symbol.asyncDispose]: () => capability.close(),
  };
}

interface Init {
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly redirect?: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** The code and sentence of a refusal. */
export async function refusalOf(promise: Promise<unknown>): Promise<{ code: string; message: string; fix: string }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HotcellError) return { code: error.code, message: error.message, fix: error.fix };
    throw error;
  }
  throw new Error('expected a refusal, but it was answered');
}
