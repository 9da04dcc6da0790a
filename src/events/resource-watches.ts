/** Which resources clients watch: whoever brings them asks for news of these alone. */
export interface ResourceWatches {
  /** One more watches this address, until the returned function is called. */
  watch(uri: string): () => void;
  /** Each address once. */
  list(): Iterable<string>;
  /** Calls back when an address is watched that was not, or is not any more, until the returned function is called. Must not throw. */
  onChange(changed: () => void): () => void;
}

/** Creates the watches: nobody watches anything yet. */
export function createResourceWatches(): ResourceWatches {
  const countByUri = new Map<string, number>();
  const listeners = new Set<() => void>();

  function count(uri: string, by: 1 | -1): void {
    const before = countByUri.get(uri) ?? 0;
    if (before + by === 0) countByUri.delete(uri);
    else countByUri.set(uri, before + by);
    // Only the first one and the last one make a difference.
    if (before === 0 || before + by === 0) for (const listener of listeners) listener();
  }

  return {
    watch(uri) {
      let isOver = false;
      count(uri, 1);
      return () => {
        if (!isOver) count(uri, -1);
        isOver = true;
      };
    },
    list: () => countByUri.keys(),
    onChange(changed) {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
  };
}
