import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '../errors/hotcell-error.ts';
import { isLeftoverName } from '../plugins/discovery/entry-names.ts';
import type { HookFile, HookFiles } from './hook-types.ts';

const maxFiles = 64;
const maxEntries = 128;
const maxDepth = 4;
const maxFileBytes = 256 * 1024;
const maxTotalBytes = 1024 * 1024;

interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
  readonly signature: string;
}

/**
 * Reads every file of a hook, once, in order of their names; dotfiles and what editors leave behind are none. Throws `hook-invalid` for links, for whatever is no regular file,
 * and for more or larger files than a hook has.
 */
export function readHookFiles(dir: string): HookFiles {
  const entries = listEntries(dir);
  const files: HookFile[] = [];
  let total = 0;
  for (const { path, isFolder } of entries) {
    if (isFolder) continue;
    if (files.length >= maxFiles) throw invalid(`The folder has more than ${maxFiles} files.`);
    const data = readHookFile(join(dir, path), path);
    total += data.length;
    if (total > maxTotalBytes) throw invalid(`The files have more than ${maxTotalBytes} bytes in all.`);
    files.push({ path, data });
  }
  const hash = createHash('sha256');
  for (const { path, data } of files) hash.update(`${path}\0${createHash('sha256').update(data).digest('hex')}\n`);
  return { files, contentHash: hash.digest('hex'), signature: describeEntries(entries) };
}

/** What changes when a file of the hook is written, added or taken away; opens nothing. Undefined when the folder cannot be read so. */
export function readHookSignature(dir: string): string | undefined {
  try {
    return describeEntries(listEntries(dir));
  } catch {
    return undefined;
  }
}

function listEntries(dir: string): Entry[] {
  const found: Entry[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const name of readNames(join(dir, folder)).filter((each) => !isLeftoverName(each))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (found.length >= maxEntries) throw invalid(`The folder holds more than ${maxEntries} entries.`);
      const stats = lstatSync(join(dir, path), { bigint: true, throwIfNoEntry: false });
      if (stats === undefined) throw invalid(`${quote(path)} went away while it was read.`);
      if (stats.isSymbolicLink()) throw invalid(`${quote(path)} is a link.`, 'Put the file itself into the folder.');
      if (!stats.isFile() && !stats.isDirectory()) throw invalid(`${quote(path)} is no regular file.`);
      const isFolder = stats.isDirectory();
      if (isFolder && depth >= maxDepth) throw invalid(`${quote(path)} lies deeper than ${maxDepth} folders.`);
      found.push({ path, isFolder, signature: `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.ino}` });
      if (isFolder) visit(path, depth + 1);
    }
  };
  const root = lstatSync(dir, { throwIfNoEntry: false });
  if (!root?.isDirectory()) throw invalid('The folder of the hook is a link, or no folder.', 'Put the folder itself there.');
  visit('', 0);
  return found;
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    throw invalid('The folder of the hook, or one in it, cannot be read.');
  }
}

/** Reads one file, named `path` in messages. Throws `hook-invalid` for what is no regular file, also when it was one a moment ago. */
export function readHookFile(file: string, path: string): Buffer {
  let descriptor: number | undefined;
  try {
    // Between the look and the opening it may have become a link or a pipe, which would be followed or waited for.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(descriptor).isFile()) throw invalid(`${quote(path)} is no regular file.`);
    const bytes = Buffer.alloc(maxFileBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= maxFileBytes; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    }
    if (length > maxFileBytes) throw invalid(`${quote(path)} has more than ${maxFileBytes} bytes.`);
    return Buffer.from(bytes.subarray(0, length));
  } catch (error) {
    if (error instanceof HotcellError) throw error;
    throw invalid(`${quote(path)} cannot be read.`, 'Allow the user of the daemon to read it.');
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function describeEntries(entries: readonly Entry[]): string {
  return createHash('sha256')
    .update(entries.map(({ path, signature }) => `${path}\0${signature}\n`).join(''))
    .digest('hex');
}

function quote(path: string): string {
  return JSON.stringify(path.slice(0, 100));
}

function invalid(message: string, fix?: string): HotcellError {
  return new HotcellError('hook-invalid', message, { fix });
}
