import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { entriesOf } from '../../file-system/paths.ts';
import { displayPath } from '../discovery/plugin-roots.ts';
import type { PluginSource } from '../discovery/plugin-source.ts';
import { hashBytes } from '../generations/artifact-files.ts';

const maxTextBytes = 5 * 1024 * 1024;
const partName = /^\..+\.[0-9a-f]{12}\.tmp$/;
const maxDepth = 4;
const maxFolders = 2000;

/** The text that a person edits: the entry, or the manifest of a `.wasm`. */
export async function readEntryText(source: PluginSource): Promise<{ file: string; text: string }> {
  const path = textFileOf(source);
  return { file: displayPath(source.root, path), text: await readBounded(path) };
}

/** Replaces that text atomically, after `onWrite` was told of it. Throws `conflict` when it is not the text that the writer had seen. */
export function writeEntryText(
  source: PluginSource,
  text: string,
  expectedHash: string | undefined,
  onWrite: (path: string, sha256: string) => void,
): Promise<void> {
  return replaceText(source, textFileOf(source), text, expectedHash, onWrite);
}

/** The same for any file of a plugin, by its real path. */
export async function replaceText(
  source: PluginSource,
  path: string,
  text: string,
  expectedHash: string | undefined,
  onWrite: (path: string, sha256: string) => void,
): Promise<void> {
  const shown = displayPath(source.root, path);
  if (Buffer.byteLength(text) > maxTextBytes) {
    throw new HotcellError('payload-too-large', `The source of ${shown} may have at most ${maxTextBytes} bytes.`);
  }
  if (expectedHash !== undefined && hashBytes(await readBounded(path)) !== expectedHash) {
    throw new HotcellError('conflict', `${shown} was changed since it was read, so it was not overwritten.`, {
      fix: 'Read the source again, put your change on top of it, then write it.',
      facts: { file: shown },
    });
  }
  const { mode } = await statFile(path);
  const part = partFor(path);
  try {
    await writeFile(part, text, { mode: mode & 0o777, flag: 'wx' });
    onWrite(path, hashBytes(text));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw describeWriteError(error, shown);
  }
}

/** Deletes what the user dropped: the file with its sidecar, the folder, or only the link to it. */
export async function deleteSource(source: PluginSource): Promise<void> {
  const stats = lstatSync(source.path, { throwIfNoEntry: false });
  if (stats === undefined) throw gone(source.name);
  if (stats.isDirectory()) return rm(source.path, { recursive: true });
  await rm(source.path, { force: true });
  if (source.sidecar) await rm(source.sidecar, { force: true });
}

/** The file whose text a person edits. Throws `not-supported` for a module without a manifest beside it. */
export function textFileOf(source: PluginSource): string {
  if (source.kind !== 'wasm') return source.realEntry;
  if (source.strayLink !== undefined) throw refuseStrayLink(source.strayLink);
  if (source.sidecar) return source.sidecar;
  throw new HotcellError('not-supported', `${source.name} is a module without a manifest beside it, so it has no text.`);
}

/** A module or its manifest that is a link to somewhere outside of the folder. */
export function refuseStrayLink(name: string): HotcellError {
  return new HotcellError('import-refused', `"${name}" is a link that leads out of the plugin folder, so it is not read.`, {
    fix: 'Put the file itself into the plugin folder.',
  });
}

async function statFile(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === 'ENOENT' ? gone(basename(path)) : error;
  }
}

function gone(name: string): HotcellError {
  return new HotcellError('conflict', `${name} is not there any more.`, { fix: 'See what is there: hotcell plugin list.' });
}

async function readBounded(path: string): Promise<string> {
  const stats = await statFile(path);
  if (stats.size <= maxTextBytes) return readFile(path, 'utf8');
  throw new HotcellError('payload-too-large', `${basename(path)} has ${stats.size} bytes; at most ${maxTextBytes} are read.`);
}

function describeWriteError(error: unknown, shown: string): HotcellError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const reason = error instanceof Error ? error.message : String(error);
  return isFull
    ? new HotcellError('storage-full', `The disk is full, so ${shown} was left as it was.`, { cause: error })
    : new HotcellError('conflict', `${shown} could not be written: ${reason.split(',')[0]}.`, { cause: error });
}

/** Where a text is written before it takes its place: beside it, and with a dot, so that nobody takes it for a plugin. */
export function partFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
}

/** Removes what a daemon that was killed in the middle of writing left in a folder of plugins. Must not throw. */
export function sweepParts(root: string): void {
  const folders = [{ path: root, depth: 0 }];
  for (const { path, depth } of folders) {
    for (const entry of entriesOf(path)) {
      const own = join(path, entry.name);
      if (entry.isFile() && partName.test(entry.name)) rmSync(own, { force: true });
      const isMeant = entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.');
      if (isMeant && depth < maxDepth && folders.length < maxFolders) folders.push({ path: own, depth: depth + 1 });
    }
  }
}
