import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type Docker from 'dockerode';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import { findNearNames } from '../../../../errors/near-names.ts';
import { describeDockerError, readStatus } from '../docker-client.ts';

/** One image of the allow list, as it is on this machine. */
export interface ImageState {
  readonly name: string;
  readonly status: 'present' | 'missing' | 'changed';
  /** The id that commands run with. */
  readonly id?: string;
  /** The id that the name means now, when that is another. */
  readonly newId?: string;
  readonly sizeBytes?: number;
  /** How to get it, or to accept it. */
  readonly fix?: string;
}

/** An image that may be used. */
interface ResolvedImage {
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The images that commands may run in, and what their names meant when they were first used. */
export type ImageBook = ReturnType<typeof createImageBook>;

const pinsSchema = Type.Record(Type.String(), Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }));
type Pins = Static<typeof pinsSchema>;

/**
 * Makes the book. What a name means is pinned when it is first used: a tag that somebody moves is not followed until an
 * operator accepts it. `pinFile` keeps the pins.
 */
export function createImageBook(parts: {
  readonly docker: () => Promise<Docker>;
  /** Follows the config file. */
  readonly allowed: () => readonly string[];
  readonly pinFile: string;
}) {
  const resolved = new Map<string, ResolvedImage>();
  let pins: Pins | undefined;

  function requireAllowed(name: string): void {
    const allowed = parts.allowed();
    if (allowed.includes(name)) return;
    const near = findNearNames(name, allowed);
    throw new HotcellError('image-refused', `The image ${JSON.stringify(name.slice(0, 120))} is not in the allow list.`, {
      fix: `Add it to docker.images in the config.${near.length > 0 ? ` Allowed is ${near.join(', ')}.` : ''}`,
    });
  }

  async function inspect(name: string): Promise<Docker.ImageInspectInfo | undefined> {
    const docker = await parts.docker();
    try {
      return await docker.getImage(name).inspect();
    } catch (error) {
      if (readStatus(error) === 404) return undefined;
      throw describeDockerError(error, 'to look at images');
    }
  }

  const readPinned = (): Pins => {
    pins ??= readPins(parts.pinFile);
    return pins;
  };

  function pin(name: string, id: string): void {
    pins = { ...readPinned(), [name]: id };
    writePins(parts.pinFile, pins);
  }

  async function look(name: string): Promise<ImageState> {
    const pinned = Object.hasOwn(readPinned(), name) ? readPinned()[name] : undefined;
    const now = await inspect(name);
    const kept = pinned === undefined || pinned === now?.Id ? now : await inspect(pinned);
    const sizeBytes = (kept ?? now)?.Size ?? 0;
    if (now !== undefined && pinned !== undefined && now.Id !== pinned) {
      return { name, status: 'changed', ...(kept ? { id: pinned } : {}), newId: now.Id, sizeBytes, fix: howTo.accept(name) };
    }
    if (kept !== undefined) return { name, status: 'present', id: kept.Id, sizeBytes };
    return { name, status: 'missing', fix: howTo.get(name) };
  }

  return {
    /** Throws `image-refused`, `image-missing` or `image-changed`. */
    resolve: async (name: string): Promise<ResolvedImage> => {
      requireAllowed(name);
      const known = resolved.get(name);
      if (known !== undefined) return known;
      const state = await look(name);
      if (state.id === undefined) throw describeUnusable(state);
      const image = await inspect(state.id);
      if (image === undefined) throw describeUnusable({ name, status: 'missing' });
      refuseVolumes(name, Object.keys(image.Config?.Volumes ?? {}));
      if (state.status === 'present') pin(name, image.Id);
      const found = { id: image.Id, env: readEnv(image.Config?.Env ?? []) };
      resolved.set(name, found);
      return found;
    },
    list: (): Promise<readonly ImageState[]> => Promise.all([...new Set(parts.allowed())].map(look)),
    /** Takes what the name means now from here on. Throws like `resolve`. */
    accept: async (name: string): Promise<ImageState> => {
      requireAllowed(name);
      const now = await inspect(name);
      if (now === undefined) throw describeUnusable({ name, status: 'missing' });
      pin(name, now.Id);
      resolved.delete(name);
      return look(name);
    },
  };
}

/** What to do about an image that cannot be used. */
const howTo = {
  get: (name: string) => `Get it: docker pull ${name} (or docker load, docker import, docker build)`,
  accept: (name: string) => `See what changed, then accept it: hotcell images accept ${name}`,
};

/** Docker would make a folder of the machine's disk for each, which nothing bounds. */
function refuseVolumes(name: string, volumes: readonly string[]): void {
  if (volumes.length === 0) return;
  throw new HotcellError('image-refused', `The image ${name} declares volumes (${volumes.join(', ').slice(0, 200)}).`, {
    fix: 'Use an image without VOLUME: commands write to /tmp and /workspace alone.',
  });
}

function describeUnusable({ name, status }: ImageState): HotcellError {
  if (status === 'missing') {
    return new HotcellError('image-missing', `The image ${name} is not on this machine; Hotcell pulls none by itself.`, {
      fix: `${howTo.get(name)}. See hotcell images.`,
    });
  }
  return new HotcellError('image-changed', `The image ${name} is another one than when it was first used.`, {
    fix: howTo.accept(name),
  });
}

/** `NAME=value` lines; names that would change what the loader of the command loads stay with the image. */
function readEnv(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line): [string, string][] => {
      const at = line.indexOf('=');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}

function readPins(file: string): Pins {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return {};
  }
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(pinsSchema, value)) return value;
  } catch {
    // Said below, as for any other content that is none.
  }
  throw new HotcellError('storage-damaged', `The file of pinned images ${file} cannot be read.`, {
    fix: 'Look at the images of this machine, then delete the file: they are pinned again at their next use.',
  });
}

function writePins(file: string, pins: Pins): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(pins, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
