import { type Dirent, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, relative, sep } from 'node:path';
import { isInside } from '../../file-system/paths.ts';
import { classifyName, folderEntryNames, sidecarExtensions } from './entry-names.ts';
import type { PluginRoot } from './plugin-roots.ts';

/** A plugin as it lies on the disk. */
export interface PluginSource {
  /** The file or folder that a user dropped: the identity of the plugin. */
  readonly path: string;
  readonly name: string;
  readonly root: PluginRoot;
  readonly kind: 'file' | 'folder' | 'wasm';
  /** The entry as it is named in the folder. */
  readonly entry: string;
  /** The real path of the entry; another one after a symlink was swapped. */
  readonly realEntry: string;
  /** The folder that its imports may come from. */
  readonly pluginDir: string;
  /** The manifest beside a `.wasm`; absent when there is none. */
  readonly sidecar?: string;
  /** The name of the module or its manifest when that is a link to somewhere outside of the root: it is not read. */
  readonly strayLink?: string;
  /** The device on which the root lay when the plugin was found. */
  readonly device: number | undefined;
}

/**
 * Looks whether a name in a root is a plugin. Only regular files count, also behind a symlink: nothing is opened
 * here, so a FIFO, socket or device cannot hold anybody up.
 */
export function findSource(root: PluginRoot, name: string): PluginSource | undefined {
  const kind = classifyName(name);
  const path = join(root.path, name);
  const base = { path, name, root, device: statSync(root.path, { throwIfNoEntry: false })?.dev };
  if (kind === 'ignored' || (root.kind === 'wasm' && kind !== 'wasm')) return undefined;
  if (kind === 'folder') {
    if (!isFolder(path)) return undefined;
    const index = folderEntryNames.find((entryName) => findRegularFile(join(path, entryName)) !== undefined);
    const main = index ?? readMain(path);
    if (main !== undefined) {
      const entry = join(path, main);
      const realEntry = findRegularFile(entry);
      if (realEntry) return { ...base, kind: 'folder', entry, realEntry, pluginDir: path };
    }
    return undefined;
  }
  const realEntry = findRegularFile(path);
  if (!realEntry) return undefined;
  if (kind === 'code') return { ...base, kind: 'file', entry: path, realEntry, pluginDir: root.path };
  const stem = path.slice(0, -extname(path).length);
  const sidecar = sidecarExtensions.map((extension) => stem + extension).find((file) => findRegularFile(file) !== undefined);
  const strayLink = [path, ...(sidecar ? [sidecar] : [])].find((file) => !isInRoot(root, file));
  return {
    ...base,
    kind: 'wasm',
    entry: path,
    realEntry,
    pluginDir: root.path,
    ...(sidecar ? { sidecar } : {}),
    ...(strayLink ? { strayLink: basename(strayLink) } : {}),
  };
}

/** All plugins of a root in the order of their names; undefined when the folder cannot be read. */
export function scanRoot(root: PluginRoot): PluginSource[] | undefined {
  let entries: Dirent[];
  try {
    entries = readdirSync(root.path, { withFileTypes: true });
  } catch {
    return undefined;
  }
  const names = entries.map((entry) => entry.name).sort();
  return names.flatMap((name) => findSource(root, name) ?? []);
}

/** The plugin that a hint about a name concerns: a sidecar speaks for the module beside it. */
export function pluginNamesFor(name: string): string[] {
  const extension = sidecarExtensions.find((candidate) => name.endsWith(candidate));
  return extension ? [name, `${name.slice(0, -extension.length)}.wasm`] : [name];
}

const maxManifestBytes = 64 * 1024;

/** The module that the package.json of a folder names as its main one; undefined for what does not lie in the folder. */
function readMain(folder: string): string | undefined {
  const file = findRegularFile(join(folder, 'package.json'));
  if (file === undefined || (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxManifestBytes) return undefined;
  try {
    const { main }: { main?: unknown } = Object(JSON.parse(readFileSync(file, 'utf8')));
    if (typeof main !== 'string' || classifyName(basename(main)) !== 'code') return undefined;
    const path = join(folder, main);
    return isAbsolute(main) || !isInside(folder, path) ? undefined : relative(folder, path);
  } catch {
    return undefined;
  }
}

function findRegularFile(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return lstatSync(real).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

function isInRoot(root: PluginRoot, file: string): boolean {
  const real = findRegularFile(file);
  return real === undefined || dirname(real) === root.path || real.startsWith(realpathSync.native(root.path) + sep);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
