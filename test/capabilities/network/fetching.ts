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
  /** Reads on to the end, as a guest does that wants all of it. */
  const readRest = async (stream: string, user: TestUser, signal = new AbortController().signal) => {
    const chunks: Uint8Array[] = [];
    while (true) {
      const request = { op: 'fetch.read', payload: JSON.stringify({ stream, fill: true }) };
      const { payload, body } = await capability.operations['fetch.read'](request, user, signal);
      const { done, truncated } = payload as { done: boolean; truncated: boolean };
      chunks.push(body ?? new Uint8Array());
      if (done) return { chunks, truncated };
    }
  };
  return {
    capability,
    /** Fetches as a call that was granted `grant`, or as a given user. */
    fetch: async (url: string, who: TestUser | { grant: unknown }, init: Init = {}): Promise<Fetched> => {
      const user = 'uses' in who ? who : createUser(who.grant);
      const { body, signal, ...rest } = init;
      const request = {
        op: 'fetch',
        payload: JSON.stringify({ url, ...rest }),
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
      };
      const result = await capability.operations.fetch(request, user, signal ?? new AbortController().signal);
      const head = result.payload as Fetched & { readonly stream?: string };
      const more = head.stream === undefined ? undefined : await readRest(head.stream, user, signal);
      const bytes = Buffer.concat([result.body ?? new Uint8Array(), ...(more?.chunks ?? [])]);
      const { stream: _, ...facts } = head;
      return { ...facts, truncated: more?.truncated ?? facts.truncated, text: bytes.toString(), bytes: bytes.length };
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
