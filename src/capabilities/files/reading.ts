import { constants } from 'node:fs';
import { type FileHandle, opendir } from 'node:fs/promises';
import type { CapabilityResult } from '../../border/capability.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { readErrorCode } from '../../errors/system-error.ts';
import { isForbiddenSegment } from '../../permissions/forbidden-segments.ts';
import { type EntryType, findEntry, openRegularFile, sortEntry } from './entry.ts';
import { openFolder } from './folder.ts';
import type { GrantedName, GrantedPath } from './request.ts';
import type { Workspace } from './workspaces.ts';

/** Which part of a file, in bytes. Without both it is the whole file, which then must not pass the limit. */
export interface ReadWindow {
  readonly offset?: number;
  readonly limit?: number;
}

const maxScanned = 100_000;

/** Reads a file, or a window of it: `{text, size}`, or `{size}` and the bytes beside it. */
export async function readFile(
  { root }: Workspace,
  { parents, name }: GrantedName,
  options: ReadWindow & { readonly as: 'text' | 'bytes'; readonly maxBytes: number },
): Promise<CapabilityResult> {
  const { offset = 0, limit, as, maxBytes } = options;
  await using folder = await openFolder(root, parents);
  await using file = await openRegularFile(folder, name, constants.O_RDONLY);
  const { size } = await file.stat();
  const wanted = Math.max(0, Math.min(limit ?? size, size - offset));
  if (wanted > maxBytes) {
    throw new HotcellError('payload-too-large', `"${name}" has ${size} bytes; at most ${maxBytes} are read at once.`, {
      fix: 'Read it in parts with offset and limit, or raise files.maxFileBytes in the config.',
    });
  }
  const bytes = await readWindow(file, offset, wanted);
  return as === 'bytes' ? { payload: { size }, body: bytes } : { payload: { text: bytes.toString('utf8'), size } };
}

/** One page of a folder by name. Names that no path may hold are not shown. */
export async function listFolder(
  { root }: Workspace,
  { names }: GrantedPath,
  { after = '', limit = 1000 }: { readonly after?: string; readonly limit?: number },
): Promise<CapabilityResult> {
  await using folder = await openFolder(root, names);
  const items: { name: string; type: EntryType }[] = [];
  let scanned = 0;
  for await (const entry of await opendir(folder.pathTo('.'))) {
    if (++scanned > maxScanned) throw new HotcellError('file-failed', `The folder has more than ${maxScanned} entries.`);
    if (entry.name > after && !isForbiddenSegment(entry.name)) items.push({ name: entry.name, type: sortEntry(entry) });
  }
  items.sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = items.slice(0, limit);
  const last = page.at(-1);
  return { payload: { items: page, ...(items.length > limit && last ? { next: last.name } : {}) } };
}

/** `{type, size, modifiedAtMs}` of a file or folder. */
export async function describeEntry({ root }: Workspace, { names }: GrantedPath): Promise<CapabilityResult> {
  await using folder = await openFolder(root, names.slice(0, -1));
  const stats = await findEntry(folder, names.at(-1) ?? '.');
  if (stats === undefined) throw new HotcellError('file-failed', `There is no "${names.join('/')}" in the workspace.`);
  const type = sortEntry(stats);
  return { payload: { type, size: type === 'file' ? stats.size : 0, modifiedAtMs: Math.round(stats.mtimeMs) } };
}

/** True when there is a file or folder of that name. */
export async function hasEntry({ root }: Workspace, { names }: GrantedPath): Promise<CapabilityResult> {
  try {
    await using folder = await openFolder(root, names.slice(0, -1));
    return { payload: (await findEntry(folder, names.at(-1) ?? '.')) !== undefined };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(readErrorCode(error) ?? '')) return { payload: false };
    throw error;
  }
}

async function readWindow(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
