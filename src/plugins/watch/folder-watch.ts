import { lstatSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { isInside, realPathOf } from '../../file-system/paths.ts';
import { isLeftoverName } from '../discovery/entry-names.ts';

/** Tells where something may have changed. What it tells are hints: the truth is on the disk. */
export type FolderWatch = ReturnType<typeof createFolderWatch>;

/** What the watch works with. */
export interface FolderWatchParts {
  readonly folders: readonly string[];
  readonly polling: boolean;
  /** A path as its folder was named, and a second time by its real path where that differs. Must not throw. */
  readonly onHint: (path: string) => void;
  /** The watch cannot be trusted any more, or is slower from now on. Must not throw. */
  readonly onProblem: (path: string, message: string) => void;
  /** The folders are watched from now on; what changed before was not seen. Must not throw. */
  readonly onReady: () => void;
}

// For a name that it watches and no longer finds chokidar reads the whole folder again: 1000 calls of lstat in a large one,
// at the very moment of a save by rename. What editors leave behind is therefore none of its business.
const ignoredFolders: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist']);

/** Watches folders with one watch a folder; falls back to polling when the system has no more watches to give. */
export function createFolderWatch(parts: FolderWatchParts) {
  /** Named folder by real folder: a watch does not follow links, so a folder behind a link is watched where it lies. */
  const folders = new Map(parts.folders.map((folder) => [realPathOf(folder) ?? folder, folder]));
  let isPolling = parts.polling;
  let isClosed = false;
  let watcher = open();

  function open(): FSWatcher {
    const opened = watch([...folders.keys()], {
      ignoreInitial: true,
      atomic: false,
      followSymlinks: false,
      ignorePermissionErrors: true,
      ignored: (path) => isIgnored(path, folders),
      ...(isPolling ? { backend: 'polling', pollingInterval: 100 } : {}),
    });
    opened.on('all', (_event, path) => tell(path));
    // Raw events come at once, the others may be held back for 50 ms after the one before.
    opened.on('raw', (_event, name, details) => {
      const path = readRawPath(name, details);
      if (path !== undefined && !isIgnored(path, folders)) tell(path);
    });
    opened.on('error', (error) => handleError(error));
    opened.on('ready', () => parts.onReady());
    return opened;
  }

  function tell(path: string): void {
    parts.onHint(path);
    for (const [real, named] of folders) {
      if (real !== named && (path === real || isInside(real, path))) parts.onHint(join(named, relative(real, path)));
    }
  }

  function handleError(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const path = parts.folders[0] ?? '';
    if (isClosed) return;
    if (!isPolling && (code === 'EMFILE' || code === 'ENOSPC' || code === 'ENOSYS')) {
      isPolling = true;
      parts.onProblem(path, `The system has no file watch left (${code}); from now on the folders are polled every 100 ms.`);
      void watcher.close();
      watcher = open();
      return;
    }
    parts.onProblem(path, `The watch of the plugin folders reports: ${error instanceof Error ? error.message : String(error)}`);
  }

  return {
    /** Watches one more folder, with all below it. */
    add(folder: string): void {
      const real = realPathOf(folder) ?? folder;
      if (folders.has(real)) return;
      folders.set(real, folder);
      watcher.add(real);
    },
    async close(): Promise<void> {
      isClosed = true;
      await watcher.close();
    },
  };
}

/** What tells one folder from another that took its place; undefined while there is none. */
export function readFolderIdentity(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    const stats = lstatSync(real, { bigint: true });
    return stats.isDirectory() ? `${real}:${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}

function isIgnored(path: string, folders: ReadonlyMap<string, string>): boolean {
  for (const folder of folders.keys()) {
    if (path === folder) return false;
    if (isInside(folder, path))
      return relative(folder, path)
        .split(sep)
        .some((name) => ignoredFolders.has(name) || isLeftoverName(name));
  }
  return false;
}

function readRawPath(name: unknown, details: unknown): string | undefined {
  if (typeof details !== 'object' || details === null || !('watchedPath' in details)) return undefined;
  const { watchedPath } = details;
  if (typeof watchedPath !== 'string') return undefined;
  return typeof name === 'string' ? join(watchedPath, name) : watchedPath;
}
