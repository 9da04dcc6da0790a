import { constants } from 'node:fs';
import { chmod, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import type { CapabilityResult } from '../../border/capability.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { isForbiddenSegment } from '../../permissions/forbidden-segments.ts';
import { findEntry, openRegularFile, requireOwnFile } from './entry.ts';
import { type Folder, openFolder } from './folder.ts';
import type { GrantedName, GrantedPath } from './request.ts';
import { entryBytes } from './usage.ts';
import type { Workspace } from './workspaces.ts';

/** Puts a file in place whole or not at all; missing folders are made. Answers `{size}`. */
export async function writeFile(
  workspace: Workspace,
  { parents, name }: GrantedName,
  data: Uint8Array,
): Promise<CapabilityResult> {
  await using folder = await makeFolders(workspace, parents);
  const existing = await findOwnFile(folder, name);
  const booked = data.length - (existing?.size ?? -entryBytes);
  await workspace.book(booked);
  try {
    await using staged = await workspace.stage(data);
    if (existing !== undefined) await chmod(staged.path, existing.mode & 0o777);
    await rename(staged.path, folder.pathTo(name));
  } catch (error) {
    await workspace.book(-booked);
    throw error;
  }
  return { payload: { size: data.length } };
}

/** Adds to the end of a file, which is made if there is none. Answers the new `{size}`. */
export async function appendFile(
  workspace: Workspace,
  { parents, name }: GrantedName,
  options: { readonly data: Uint8Array; readonly maxFileBytes: number },
): Promise<CapabilityResult> {
  const { data, maxFileBytes } = options;
  await using folder = await makeFolders(workspace, parents);
  const existing = await findOwnFile(folder, name);
  const size = (existing?.size ?? 0) + data.length;
  if (size > maxFileBytes) {
    throw new HotcellError('payload-too-large', `"${name}" would have ${size} bytes; a file may have at most ${maxFileBytes}.`);
  }
  const booked = data.length + (existing === undefined ? entryBytes : 0);
  await workspace.book(booked);
  try {
    await using file = await openRegularFile(folder, name, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    await file.writeFile(data);
  } catch (error) {
    await workspace.book(-booked);
    throw error;
  }
  return { payload: { size } };
}

/** Makes a folder and those above it. */
export async function createFolder(workspace: Workspace, { names }: GrantedPath): Promise<CapabilityResult> {
  await using _folder = await makeFolders(workspace, names);
  return { payload: null };
}

/** Deletes a file, a link itself, or a folder: an empty one, or with `recursive` all that is in it. Answers whether there was one. */
export async function deleteEntry(
  workspace: Workspace,
  { parents, name }: GrantedName,
  { recursive }: { readonly recursive: boolean },
): Promise<CapabilityResult> {
  await using folder = await openFolder(workspace.root, parents);
  return { payload: await removeFrom(workspace, { folder, name, recursive }) };
}

async function findOwnFile(folder: Folder, name: string) {
  const existing = await findEntry(folder, name);
  if (existing !== undefined) requireOwnFile(existing, name);
  return existing;
}

/** Books what the missing folders count before they are made. */
async function makeFolders(workspace: Workspace, names: readonly string[]): Promise<Folder> {
  let depth = 0;
  for (; depth < names.length; depth++) {
    await using folder = await openFolder(workspace.root, names.slice(0, depth));
    const name = names[depth];
    if (name !== undefined && (await findEntry(folder, name)) === undefined) break;
  }
  if (depth < names.length) await workspace.book((names.length - depth) * entryBytes);
  return openFolder(workspace.root, names, { create: true });
}

interface Removal {
  readonly folder: Folder;
  readonly name: string;
  readonly recursive: boolean;
}

async function removeFrom(workspace: Workspace, { folder, name, recursive }: Removal): Promise<boolean> {
  const existing = await findEntry(folder, name);
  if (existing === undefined) return false;
  if (existing.isDirectory()) {
    if (recursive) await emptyFolder(workspace, folder, name);
    await rmdir(folder.pathTo(name));
    await workspace.book(-entryBytes);
  } else {
    await unlink(folder.pathTo(name));
    await workspace.book(-entryBytes - existing.size);
  }
  return true;
}

async function emptyFolder(workspace: Workspace, parent: Folder, name: string): Promise<void> {
  await using folder = await openFolder(parent, [name]);
  const names = await readdir(folder.pathTo('.'));
  if (names.some(isForbiddenSegment)) {
    throw new HotcellError('file-refused', `The folder "${name}" holds something that plugins may not touch; it was kept.`);
  }
  for (const each of names) await removeFrom(workspace, { folder, name: each, recursive: true });
}
