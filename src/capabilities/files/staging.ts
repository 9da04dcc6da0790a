import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Folder, openFolder } from './folder.ts';

/** A new file with its whole content beside its place, to be renamed into it; deleted at the end of the scope if it was not. */
export interface Staged extends AsyncDisposable {
  readonly path: string;
}

/** Writes staged files. */
export type StageFile = (data: Uint8Array) => Promise<Staged>;

/** A name that no guest may use: it sees nothing of what is half written. */
const mountFolder = '.hotcell';
const mountPrefix = 'incoming-';
/** What a crash left in a mount is deleted when it is so old that no other daemon can be writing it. */
const leftoverAfterMs = 3_600_000;

/** Stages in a folder of the daemon's own; what a crash left there is swept at the first write. */
export function createOwnStage(folder: string): StageFile {
  let ready: Promise<unknown> | undefined;
  const sweep = async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
  };
  return async (data) => {
    ready ??= sweep().catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    await ready;
    const path = join(folder, randomUUID());
    await writeNew(path, data);
    return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
  };
}

/** Stages inside a mount, since a rename does not cross file systems; nothing is left there afterwards. */
export async function stageInMount(root: Folder, data: Uint8Array, now: number): Promise<Staged> {
  const folder = await openFolder(root, [mountFolder], { create: true });
  const clean = async () => {
    await folder[Symbol.asyncDispose]();
    // Somebody else's files may lie there: then it stays.
    await rmdir(root.pathTo(mountFolder)).catch(() => {});
  };
  const path = folder.pathTo(`${mountPrefix}${randomUUID()}`);
  try {
    await sweepOld(folder, now);
    await writeNew(path, data);
  } catch (error) {
    await clean();
    throw error;
  }
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      await rm(path, { force: true });
      await clean();
    },
  };
}

async function sweepOld(folder: Folder, now: number): Promise<void> {
  for (const name of await readdir(folder.pathTo('.'))) {
    if (!name.startsWith(mountPrefix)) continue;
    const stats = await lstat(folder.pathTo(name)).catch(() => undefined);
    if (stats && now - stats.mtimeMs > leftoverAfterMs) await unlink(folder.pathTo(name)).catch(() => {});
  }
}

async function writeNew(path: string, data: Uint8Array): Promise<void> {
  try {
    await using file = await open(path, 'wx', 0o600);
    await file.writeFile(data);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
