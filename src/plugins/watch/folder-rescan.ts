import { readFolderIdentity } from './folder-watch.ts';
import type { InputUsers } from './input-users.ts';
import { readSignature } from './seen.ts';

/** How many files a step of the round looks at: less than a millisecond's worth. */
const filesPerStep = 100;

/** Notices when a plugin folder that is there now goes away as a whole, comes back, or is another one; `check` looks at once. */
export function startRootWatch(parts: {
  readonly roots: readonly string[];
  readonly intervalMs: number;
  readonly onGone: (root: string) => void;
  readonly onBack: (root: string) => void;
}) {
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

/**
 * Looks at all files that plugins are built from, a few at a time, for ever: the net below the watch. It finds what no
 * watch of a folder tells: files of installed packages, and files that are written through a hard link elsewhere. `onChange` is told
 * of each file that is not as it was when it was built from.
 */
export function startSlowRound(parts: {
  readonly intervalMs: number;
  readonly inputs: Pick<InputUsers, 'paths' | 'signatureOf'>;
  readonly onChange: (path: string) => void;
}) {
  const { inputs, onChange } = parts;
  let paths: readonly string[] = [];
  let position = 0;

  function step(): void {
    if (position >= paths.length) {
      paths = [...inputs.paths()];
      position = 0;
    }
    for (const path of paths.slice(position, position + filesPerStep)) {
      if (readSignature(path) !== inputs.signatureOf(path)) onChange(path);
    }
    position += filesPerStep;
  }

  const timer = setInterval(step, parts.intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
