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

/** How fast messages of one stream are taken: a server that sends more waits, and nothing is kept for it meanwhile. */
export interface MessagePace {
  /** Counts messages in; a promise when the reader is to wait before it reads on. */
  note(messages: number): Promise<void> | undefined;
}

const windowMs = 100;
const perWindow = 100;

/** Creates the pace of one stream: a thousand messages a second. */
export function createMessagePace(): MessagePace {
  let taken = 0;
  let endsAtMs = 0;
  return {
    note(messages) {
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
