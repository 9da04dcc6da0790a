import { type Client, type McpSubscription, ProtocolError } from '@modelcontextprotocol/client';

/** Creates what asks a server for news of resources: with a request for each in the older era, with one stream in the newer one. */
export function createResourceWatcher({
  client,
  era,
  canWatch,
  timeoutMs,
}: {
  readonly client: Client;
  readonly era: '2026-07-28' | '2025-11-25';
  readonly canWatch: boolean;
  /** Of one request. */
  readonly timeoutMs: number;
}): (uris: ReadonlySet<string>, signal: AbortSignal) => Promise<void> {
  const watched = new Set<string>();
  let stream: McpSubscription | undefined;

  async function watchEach(uris: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const options = { signal, timeout: timeoutMs };
    for (const uri of [...watched].filter((each) => !uris.has(each))) {
      watched.delete(uri);
      await client.unsubscribeResource({ uri }, options).catch(forgive);
    }
    for (const uri of [...uris].filter((each) => !watched.has(each))) {
      // Marked first: a server that refuses is not asked for this one again.
      watched.add(uri);
      await client.subscribeResource({ uri }, options).catch(forgive);
    }
  }

  async function watchByStream(uris: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    if (uris.size === watched.size && [...uris].every((uri) => watched.has(uri))) return;
    const before = stream;
    // The new stream is there before the old one goes: nothing falls between them.
    stream =
      uris.size === 0 ? undefined : await client.listen({ resourceSubscriptions: [...uris] }, { signal, timeout: timeoutMs });
    watched.clear();
    for (const uri of uris) watched.add(uri);
    void stream?.closed.then((why) => {
      if (why !== 'local') void client.close();
    });
    await before?.close();
  }

  return async (uris, signal) => {
    if (!canWatch) return;
    try {
      await (era === '2026-07-28' ? watchByStream(uris, signal) : watchEach(uris, signal));
    } catch {
      // A server that does not answer is found out by the calls of its tools.
      signal.throwIfAborted();
    }
  };
}

/** A server may refuse to tell of a resource; whoever does not answer is not asked for the next one. */
function forgive(error: unknown): void {
  if (!(error instanceof ProtocolError)) throw error;
}
