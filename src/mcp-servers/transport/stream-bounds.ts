/** Counts what comes from a server, for answers that come in many pieces. */
export type ReceivedBytes = ReturnType<typeof createReceivedBytes>;

/** Creates the count of one connection. */
export function createReceivedBytes() {
  const watches = new Set<{ left: number; readonly onOver: () => void }>();
  return {
    add(bytes: number): void {
      for (const watch of watches) {
        watch.left -= bytes;
        if (watch.left >= 0) continue;
        watches.delete(watch);
        watch.onOver();
      }
    },
    /** Calls `onOver` once, when more than `maxBytes` came from now on; the returned function ends the watch. */
    watch(maxBytes: number, onOver: () => void): () => void {
      const watch = { left: maxBytes, onOver };
      watches.add(watch);
      return () => void watches.delete(watch);
    },
  };
}

const windowMs = 100;
const perWindow = 100;

/** Creates the pace of one stream: a thousand messages a second. */
export function createMessagePace() {
  let taken = 0;
  let endsAtMs = 0;
  return {
    /** Counts messages in; a promise when the reader is to wait before it reads on. */
    note(messages: number): Promise<void> | undefined {
      const nowMs = performance.now();
      if (nowMs >= endsAtMs) {
        taken = 0;
        endsAtMs = nowMs + windowMs;
      }
      taken += messages;
      if (taken < perWindow) return undefined;
      return new Promise((resolve) => setTimeout(resolve, endsAtMs - nowMs));
    },
  };
}
