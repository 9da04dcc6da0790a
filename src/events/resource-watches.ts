import { Counts } from '../collections/counts.ts';

/** Which resources clients watch: whoever brings them asks for news of these alone. */
export type ResourceWatches = ReturnType<typeof createResourceWatches>;

/** Creates the watches: nobody watches anything yet. */
export function createResourceWatches() {
  const countByUri = new Counts();
  const listeners = new Set<() => void>();

  function count(uri: string, by: 1 | -1): void {
    const wasWatched = countByUri.has(uri);
    countByUri.add(uri, by);
    // Only the first one and the last one make a difference.
    if (wasWatched !== countByUri.has(uri)) for (const listener of listeners) listener();
  }

  return {
    /** One more watches this address, until the returned function is called. */
    watch(uri: string): () => void {
      let isOver = false;
      count(uri, 1);
      return () => {
        if (!isOver) count(uri, -1);
        isOver = true;
      };
    },
    /** Each address once. */
    list: (): Iterable<string> => countByUri.keys(),
    /** Calls back when an address is watched that was not, or is not any more, until the returned function is called. Must not throw. */
    onChange(changed: () => void): () => void {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
  };
}
