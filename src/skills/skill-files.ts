import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { parseRelativePath } from '../permissions/path-grammar.ts';
import type { SkillFile } from './skill-types.ts';

/** The files of a skill, or why it has none that can be used, in a whole sentence. */
export type SkillFiles =
  | { readonly ok: true; readonly files: readonly SkillFile[]; readonly contentHash: string }
  | { readonly ok: false; readonly reason: string };

const maxFiles = 1000;
const maxDepth = 16;
const maxBytes = 16 * 1024 * 1024;

class Unusable extends Error {}

/**
 * Reads everything in a skill's folder, which must be a real path: exactly these bytes are hashed, approved and run. Names
 * that no workspace may hold (`.git`, `.env`) are left out; a link that leads out, a device or a pipe makes it unusable.
 */
export async function readSkillFiles(dir: string): Promise<SkillFiles> {
  try {
    const files: SkillFile[] = [];
    await readFolder(dir, '', { dir, files, bytesLeft: maxBytes }, 0);
    files.sort((one, other) => (one.path < other.path ? -1 : 1));
    return { ok: true, files, contentHash: hashFiles(files) };
  } catch (error) {
    if (error instanceof Unusable) return { ok: false, reason: error.message };
    return { ok: false, reason: 'Its files cannot be read.' };
  }
}

interface Reading {
  readonly dir: string;
  readonly files: SkillFile[];
  bytesLeft: number;
}

async function readFolder(folder: string, prefix: string, reading: Reading, depth: number): Promise<void> {
  if (depth > maxDepth) throw new Unusable(`It has folders more than ${maxDepth} deep.`);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (!parseRelativePath(path).ok) continue;
    if (entry.isDirectory()) await readFolder(join(folder, entry.name), `${path}/`, reading, depth + 1);
    else await readFile(join(folder, entry.name), path, entry.isSymbolicLink(), reading);
  }
}

async function readFile(file: string, path: string, isLink: boolean, reading: Reading): Promise<void> {
  const { files, dir } = reading;
  if (files.length >= maxFiles) throw new Unusable(`It has more than ${maxFiles} files.`);
  const real = isLink ? await followLink(file, path, dir) : file;
  // Not blocking: opening a pipe would wait for somebody who writes.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Unusable(`${show(path)} is no regular file.`);
    if (stats.size > reading.bytesLeft) throw new Unusable(`It has more than ${maxBytes} bytes of files.`);
    const data = await handle.readFile();
    reading.bytesLeft -= data.length;
    if (reading.bytesLeft < 0) throw new Unusable(`It has more than ${maxBytes} bytes of files.`);
    files.push({ path, data });
  } finally {
    await handle.close();
  }
}

async function followLink(file: string, path: string, dir: string): Promise<string> {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) throw new Unusable(`${show(path)} is a link to nothing.`);
  if (!real.startsWith(dir + sep)) throw new Unusable(`${show(path)} is a link that leads out of the skill.`);
  if (!(await stat(real)).isFile()) throw new Unusable(`${show(path)} is a link to something else than a file.`);
  return real;
}

function hashFiles(files: readonly SkillFile[]): string {
  const facts = files.map(({ path, data }) => [path, createHash('sha256').update(data).digest('hex')]);
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

function show(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
