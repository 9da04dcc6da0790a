import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { omitUndefined } from '../../config/json-object.ts';

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

/** Names the file of one generation. */
interface ArtifactKey {
  /** Of the plugin. */
  readonly path: string;
  readonly id: string;
}

const sourcesSchema = Type.Array(Type.Object({ path: Type.String(), text: Type.String() }));

/** The parts of a generation in the order in which they lie in its file, with the names of the files that they once were. */
const partNames = { sources: 'sources.json', sourceMap: 'code.js.map', code: 'code.js', image: 'image.bin' } as const;
type Part = keyof typeof partNames;
const length = Type.Integer({ minimum: 0 });
const headSchema = Type.Object({
  sources: length,
  sourceMap: Type.Optional(length),
  code: length,
  image: Type.Optional(length),
});

/** The generations below one folder, each a file: `<start of the hash of the plugin path>/<id>`. */
export type ArtifactFiles = ReturnType<typeof createArtifactFiles>;

/** Keeps artifacts in a folder that only the daemon's user can read. */
export function createArtifactFiles(folder: string) {
  // One file a generation, and few folders: to make a file or a folder takes longer than to write what is in it.
  const fileOf = ({ path, id }: ArtifactKey) => join(folder, hashBytes(path).slice(0, 2), id);
  /** An image that was made anew lies beside the rest. */
  const imageOf = (key: ArtifactKey) => `${fileOf(key)}.image`;
  /** Where the parts once were: a folder for each plugin, and one in it for each generation. */
  const olderOf = ({ path, id }: ArtifactKey) => join(folder, hashBytes(path).slice(0, 24), id);

  async function read(key: ArtifactKey, part: Part): Promise<Buffer | undefined> {
    const whole = await readFile(fileOf(key)).catch(() => undefined);
    if (whole !== undefined) return takePart(whole, part);
    return readFile(join(olderOf(key), partNames[part])).catch(() => undefined);
  }

  async function place(file: string, content: Uint8Array): Promise<void> {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // What is written by halves is known by its hash, or has no row.
    await writeFile(file, content, { mode: 0o600 });
  }

  return {
    write: (key: ArtifactKey, artifacts: Artifacts) => place(fileOf(key), joinParts(artifacts)),
    writeImage: (key: ArtifactKey, image: Uint8Array) => place(imageOf(key), image),
    /** The bytes of the code; undefined when they are missing or not what was written. */
    readCode: async (key: ArtifactKey, codeHash: string) => verify(await read(key, 'code'), codeHash),
    async readImage(key: ArtifactKey, imageHash: string): Promise<Uint8Array | undefined> {
      const anew = verify(await readFile(imageOf(key)).catch(() => undefined), imageHash);
      return anew ?? verify(await read(key, 'image'), imageHash);
    },
    async readTrace(key: ArtifactKey): Promise<TraceFiles> {
      const sourceMap = (await read(key, 'sourceMap'))?.toString('utf8');
      return { ...omitUndefined({ sourceMap }), sources: readSources(await read(key, 'sources')) };
    },
    async remove(key: ArtifactKey): Promise<void> {
      for (const place of [fileOf(key), imageOf(key), olderOf(key)]) await rm(place, { recursive: true, force: true });
    },
    /** Removes what older versions left of a plugin. */
    removePlugin: (path: string) => rm(dirname(olderOf({ path, id: '-' })), { recursive: true, force: true }),
  };
}

/** A line with the length of each part, then the parts. */
function joinParts({ sources, sourceMap, code, image }: Artifacts): Buffer {
  const parts = { sources: JSON.stringify(sources), sourceMap, code, image };
  const given = Object.entries(parts).flatMap(([part, bytes]) =>
    bytes === undefined ? [] : [[part, typeof bytes === 'string' ? Buffer.from(bytes) : bytes] as const],
  );
  const head = JSON.stringify(Object.fromEntries(given.map(([part, bytes]) => [part, bytes.length])));
  return Buffer.concat([Buffer.from(`${head}\n`), ...given.map(([, bytes]) => bytes)]);
}

function takePart(whole: Buffer, wanted: Part): Buffer | undefined {
  try {
    let at = whole.indexOf('\n') + 1;
    const lengths = Value.Parse(headSchema, JSON.parse(whole.toString('utf8', 0, at)));
    for (const [part, length] of Object.entries(lengths)) {
      if (part === wanted) return whole.subarray(at, at + length);
      at += length;
    }
  } catch {
    // Damaged: as if it were not there.
  }
  return undefined;
}

/** SHA-256, hex. */
export function hashBytes(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

function verify(bytes: Uint8Array | undefined, expected: string): Uint8Array | undefined {
  return bytes && hashBytes(bytes) === expected ? bytes : undefined;
}

function readSources(bytes: Buffer | undefined): readonly ArtifactSource[] {
  try {
    return bytes ? Value.Parse(sourcesSchema, JSON.parse(bytes.toString('utf8'))) : [];
  } catch {
    // Without sources an error has no code frame; that must not hide the error itself.
    return [];
  }
}
