import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';

/** One of the user's own files as it was built, for code frames; `path` is relative to the root folder. */
export interface ArtifactSource {
  readonly path: string;
  readonly text: string;
}

/** What positions in a bundle are mapped with. */
export type TraceFiles = Pick<Artifacts, 'sourceMap' | 'sources'>;

/** What a generation leaves on the disk. */
export interface Artifacts {
  readonly code: string | Uint8Array;
  readonly sourceMap?: string;
  readonly sources: readonly ArtifactSource[];
  readonly image?: Uint8Array;
}

/** Files of generations below one folder: `<hash of plugin path>/<id>/`. */
export interface ArtifactFiles {
  write(key: ArtifactKey, artifacts: Artifacts): Promise<void>;
  writeImage(key: ArtifactKey, image: Uint8Array): Promise<void>;
  /** The bytes of the code; undefined when they are missing or not what was written. */
  readCode(key: ArtifactKey, codeHash: string): Promise<Uint8Array | undefined>;
  readImage(key: ArtifactKey, imageHash: string): Promise<Uint8Array | undefined>;
  readTrace(key: ArtifactKey): Promise<TraceFiles>;
  remove(key: ArtifactKey): Promise<void>;
  removePlugin(path: string): Promise<void>;
}

/** Names the folder of one generation. */
export interface ArtifactKey {
  /** Of the plugin. */
  readonly path: string;
  readonly id: string;
}

const sourcesSchema = Type.Array(Type.Object({ path: Type.String(), text: Type.String() }));

/** Keeps artifacts in a folder that only the daemon's user can read. */
export function createArtifactFiles(folder: string): ArtifactFiles {
  const folderOf = (key: ArtifactKey) => join(folder, hashText(key.path).slice(0, 24), key.id);
  return {
    async write(key, artifacts) {
      const target = folderOf(key);
      await mkdir(target, { recursive: true, mode: 0o700 });
      // The code last: where it is, the rest is too.
      if (artifacts.sourceMap !== undefined) await place(join(target, 'code.js.map'), artifacts.sourceMap);
      await place(join(target, 'sources.json'), JSON.stringify(artifacts.sources));
      if (artifacts.image) await place(join(target, 'image.bin'), artifacts.image);
      await place(join(target, 'code.js'), artifacts.code);
    },
    writeImage: (key, image) => place(join(folderOf(key), 'image.bin'), image),
    readCode: (key, codeHash) => readVerified(join(folderOf(key), 'code.js'), codeHash),
    readImage: (key, imageHash) => readVerified(join(folderOf(key), 'image.bin'), imageHash),
    async readTrace(key) {
      const sourceMap = await readFile(join(folderOf(key), 'code.js.map'), 'utf8').catch(() => undefined);
      return {
        ...(sourceMap === undefined ? {} : { sourceMap }),
        sources: await readSources(join(folderOf(key), 'sources.json')),
      };
    },
    remove: (key) => rm(folderOf(key), { recursive: true, force: true }),
    removePlugin: (path) => rm(dirname(folderOf({ path, id: '-' })), { recursive: true, force: true }),
  };
}

/** SHA-256, hex. */
export function hashBytes(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hashText(text: string): string {
  return hashBytes(text);
}

async function place(file: string, content: string | Uint8Array): Promise<void> {
  const part = `${file}.part`;
  await writeFile(part, content, { mode: 0o600 });
  await rename(part, file);
}

async function readVerified(file: string, hash: string): Promise<Uint8Array | undefined> {
  const bytes = await readFile(file).catch(() => undefined);
  return bytes && hashBytes(bytes) === hash ? bytes : undefined;
}

async function readSources(file: string): Promise<readonly ArtifactSource[]> {
  try {
    return Value.Parse(sourcesSchema, JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // Without sources an error has no code frame; that must not hide the error itself.
    return [];
  }
}
