import { readFolderIdentity } from './folder-watch.ts';

/** Notices when a plugin folder goes away as a whole, comes back, or is another one. */
export interface RootWatch {
  /** Looks at once. */
  check(): void;
  close(): void;
}

/** Starts looking after folders that are there now. */
export function startRootWatch(parts: {
  readonly roots: readonly string[];
  readonly intervalMs: number;
  readonly onGone: (root: string) => void;
  readonly onBack: (root: string) => void;
}): RootWatch {
  const identities = new Map(parts.roots.map((root) => [root, readFolderIdentity(root)]));

  function check(): void {
    for (const root of parts.roots) {
      const before = identities.get(root);
      const now = readFolderIdentity(root);
      if (now === before) continue;
      identities.set(root, now);
      if (now === undefined) parts.onGone(root);
      else parts.onBack(root);
    }
  }

  const timer = setInterval(check, parts.intervalMs);
  timer.unref();
  return { check, close: () => clearInterval(timer) };
}
