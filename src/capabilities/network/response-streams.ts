import { randomUUID } from 'node:crypto';
import type { CapabilityUser } from '../../border/capability-user.ts';
import type { HeldPlace } from '../../concurrency/place-count.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { createDenial } from '../permission-denial.ts';
import type { ByteAccount } from './byte-budget.ts';
import type { Destination } from './destination.ts';
import { describePlace, mayReach } from './network-check.ts';
import type { OpenRequests } from './open-requests.ts';
import type { BodyReader } from './response-body.ts';

/** A response whose body is still being read. */
export interface OpenResponse {
  readonly body: BodyReader;
  readonly destination: Destination;
  /** Whose memory budget it is. */
  readonly owner: string;
  /** Pays for what the body holds in memory while it is open. */
  readonly account: ByteAccount;
}

interface Kept extends OpenResponse {
  readonly place: HeldPlace;
  readonly executionId: string;
  idle: NodeJS.Timeout;
  isBusy: boolean;
}

const maxPerCall = quotas['network.open'].each.max;

/** The responses that guests read piece by piece. Each belongs to one execution. */
export type ResponseStreams = ReturnType<typeof createResponseStreams>;

/** Makes the list of open responses; one that nobody reads for `idleMs` is closed. */
export function createResponseStreams(parts: { readonly idleMs: number; readonly requests: OpenRequests }) {
  const { idleMs, requests } = parts;
  const keptByStream = new Map<string, Kept>();
  const streamsByExecution = new Map<string, Set<string>>();

  const drop = (stream: string): void => {
    const kept = keptByStream.get(stream);
    if (!kept) return;
    clearTimeout(kept.idle);
    keptByStream.delete(stream);
    const streams = streamsByExecution.get(kept.executionId);
    streams?.delete(stream);
    if (streams?.size === 0) streamsByExecution.delete(kept.executionId);
    kept.place.leave();
    kept.body.close();
    kept.account[Symbol.dispose]();
  };
  const watchIdle = (stream: string): NodeJS.Timeout => setTimeout(() => drop(stream), idleMs).unref();

  return {
    /** True when a call may keep one more open. */
    hasRoom: (executionId: string): boolean => (streamsByExecution.get(executionId)?.size ?? 0) < maxPerCall,
    /** Keeps a response open; returns the name by which its call reads on. */
    keep: (response: OpenResponse, user: CapabilityUser): string => {
      const { executionId } = user;
      // Not a count: a number of before a restart must never mean a response of after it.
      const stream = randomUUID();
      keptByStream.set(stream, { ...response, executionId, place: requests.goOn(user), idle: watchIdle(stream), isBusy: false });
      const streams = streamsByExecution.get(executionId) ?? new Set();
      streamsByExecution.set(executionId, streams.add(stream));
      return stream;
    },
    /** Reads on with `use`. Throws `interrupted` for what is gone, `permission-denied` when its host is granted no more. */
    use: async <Result>(
      stream: string,
      user: CapabilityUser,
      use: (response: OpenResponse) => Promise<Result>,
    ): Promise<Result> => {
      const kept = keptByStream.get(stream);
      if (kept?.executionId !== user.executionId) throw describeGone(idleMs);
      if (kept.isBusy)
        throw new HotcellError('arguments-invalid', 'This response is being read already; read one piece at a time.');
      const { host, port } = kept.destination;
      if (!mayReach(user, host, port)) {
        drop(stream);
        const where = describePlace(kept.destination);
        throw createDenial(user, { key: 'net', entry: where, tried: `reach ${where}` });
      }
      kept.isBusy = true;
      clearTimeout(kept.idle);
      try {
        return await use(kept);
      } catch (error) {
        drop(stream);
        throw error;
      } finally {
        kept.isBusy = false;
        if (keptByStream.has(stream)) kept.idle = watchIdle(stream);
      }
    },
    /** Closes one response of a call; without effect when it is closed. */
    close: (stream: string, executionId: string): void => {
      if (keptByStream.get(stream)?.executionId === executionId) drop(stream);
    },
    /** Closes what a call that is over left open. */
    endCall: (executionId: string): void => {
      for (const stream of streamsByExecution.get(executionId) ?? []) drop(stream);
    },
    closeAll: (): void => {
      for (const stream of keptByStream.keys()) drop(stream);
    },
  };
}

function describeGone(idleMs: number): HotcellError {
  return new HotcellError(
    'interrupted',
    `The rest of this response is gone: the daemon was restarted meanwhile, or nobody read on for ${idleMs} ms.`,
    { fix: 'Fetch it again.' },
  );
}
