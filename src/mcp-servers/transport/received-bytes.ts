/** Counts what comes from a server, for answers that come in many pieces. */
export interface ReceivedBytes {
  add(bytes: number): void;
  /** Calls `onOver` once, when more than `maxBytes` came from now on; the returned function ends the watch. */
  watch(maxBytes: number, onOver: () => void): () => void;
}

/** Creates the count of one connection. */
export function createReceivedBytes(): ReceivedBytes {
  const watches = new Set<{ left: number; readonly onOver: () => void }>();
  return {
    add(bytes) {
      for (const watch of watches) {
        watch.left -= bytes;
        if (watch.left >= 0) continue;
        watches.delete(watch);
        watch.onOver();
      }
    },
    watch(maxBytes, onOver) {
      const watch = { left: maxBytes, onOver };
      watches.add(watch);
      return () => void watches.delete(watch);
    },
  };
}
