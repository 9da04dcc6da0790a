import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createSlots } from '../../concurrency/slots.ts';
import { createTurns } from '../../concurrency/turns.ts';
import { anonymousPrefix } from '../../config/counted-callers.ts';
import { type Folder, openRootFolder } from './folder.ts';
import { createOwnStage, type StageFile } from './staging.ts';
import { createUsage, type Usage } from './usage.ts';

/** One caller's folder or a mount, open for the length of one operation. */
export interface Workspace {
  readonly root: Folder;
  /** Books bytes on the quota, see Usage. */
  book(bytes: number): Promise<void>;
  /** Writes a new file beside its place, to be renamed into it. */
  readonly stage: StageFile;
}

/** Where files lie. */
export interface FilePlace {
  /** Runs one operation that changes nothing. */
  read<Result>(use: (workspace: Workspace) => Promise<Result>): Promise<Result>;
  /** Runs one operation that changes something, after those that began before it. */
  change<Result>(use: (workspace: Workspace) => Promise<Result>): Promise<Result>;
}

/** The name of a caller's folder. A hash, so that no caller can choose it and none can be read off the disk. */
export function nameWorkspace(caller: string): string {
  const name = createHash('sha256').update(caller).digest('hex').slice(0, 24);
  // What a daemon that crashed left behind of anonymous callers is found again by its name.
  return caller.startsWith(anonymousPrefix) ? `stranger-${name}` : name;
}

/** Deletes the folder of one anonymous caller, or of all. */
export async function deleteAnonymousFolders(dataDir: string, caller?: string): Promise<void> {
  const folder = join(dataDir, 'workspaces');
  const names = caller === undefined ? await readdir(folder).catch(() => []) : [nameWorkspace(caller)];
  for (const name of names) {
    if (name.startsWith('stranger-')) await rm(join(folder, name), { recursive: true, force: true });
  }
}

// Every operation holds a few open folders; thousands of waiting calls must not use up the process's descriptors.
const maxAtOnce = 64;

/** The folders of all callers: `<data>/workspaces/<hash of the caller>`. */
export type Workspaces = ReturnType<typeof createWorkspaces>;

/** Makes the workspaces of a data directory. */
export function createWorkspaces(options: { dataDir: string; quotaBytes: number; now?: () => number }) {
  const folder = join(options.dataDir, 'workspaces');
  const usage = createUsage({ quotaBytes: options.quotaBytes, now: options.now ?? (() => performance.now()) });
  const stage = createOwnStage(join(folder, '.incoming'));
  const { run: pass } = createSlots(maxAtOnce);
  const turns = createTurns();
  const run = <Result>(name: string, use: (workspace: Workspace) => Promise<Result>): Promise<Result> =>
    pass(async () => {
      await using root = await openRootFolder(join(folder, name));
      return await use({ root, stage, book: bookFor(usage, name, root) });
    });
  return {
    /** The absolute path of a caller's folder, made if need be; whoever asks for it may change what is in it. */
    locate: async (caller: string): Promise<string> => {
      const path = join(folder, nameWorkspace(caller));
      await mkdir(path, { recursive: true, mode: 0o700 });
      usage.forget(nameWorkspace(caller));
      return path;
    },
    of: (caller: string): FilePlace => {
      const name = nameWorkspace(caller);
      return { read: (use) => run(name, use), change: (use) => turns.run(name, () => run(name, use)) };
    },
  };
}

function bookFor(usage: Usage, name: string, root: Folder): Workspace['book'] {
  return (bytes) => usage.book(name, root, bytes);
}
