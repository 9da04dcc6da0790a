import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { entriesOf } from '../../file-system/paths.ts';
import { classifyName } from './entry-names.ts';
import { displayPath, type PluginRoot } from './plugin-roots.ts';
import { findSource } from './plugin-source.ts';

/** Something in a plugin folder that somebody may take for a plugin, and why it is none. */
export interface PassedOver {
  readonly path: string;
  /** One sentence, with what to do. */
  readonly reason: string;
}

const maxNamed = 3;
/** Plugins of a folder of folders are none, at any depth; so deep they are told. */
const maxDepth = 3;
const maxLooked = 50;

/** Says why a name in a root that looks like a plugin is none; undefined for plugins, and for what never looked like one. */
export function explainPassedOver(root: PluginRoot, name: string): PassedOver | undefined {
  const kind = classifyName(name);
  if (kind === 'ignored' || kind === 'wasm' || findSource(root, name) !== undefined) return undefined;
  const path = join(root.path, name);
  const shown = displayPath(root, path);
  if (root.kind === 'wasm') {
    if (kind !== 'code' || !isKind(path, 'file')) return undefined;
    return { path, reason: `${shown} is no plugin: this folder is for .wasm files. Move it into a plugin folder.` };
  }
  if (kind !== 'folder' || !isKind(path, 'folder')) return undefined;
  const code = listCode(path);
  if (code.length === 0) return undefined;
  const named = code.slice(0, maxNamed).join(', ') + (code.length > maxNamed ? ` and ${code.length - maxNamed} more` : '');
  const what = `The folder ${shown} is no plugin: it has no index.ts, and its package.json names no "main" in it`;
  const fix = `Name its entry index.ts, move ${code.every((file) => file.includes('/')) ? 'what lies in it' : 'its files'} up to ${basename(root.path)}, or begin its name with "_" when plugins import it`;
  return { path, reason: `${what}, so ${named} ${code.length === 1 ? 'is' : 'are'} not looked at. ${fix}.` };
}

/** All of a root that looks like plugins and is none. */
export function listPassedOver(root: PluginRoot): PassedOver[] {
  return readNames(root.path).flatMap((name) => explainPassedOver(root, name) ?? []);
}

/** The code in a folder, or, where it has none itself, in the folders within it. */
function listCode(folder: string, depth = maxDepth): string[] {
  const names = readNames(folder).slice(0, maxLooked);
  const own = names.filter((name) => /^(?:code|wasm)$/.test(classifyName(name)));
  if (own.length > 0 || depth === 0) return own;
  const inner = names.filter((name) => classifyName(name) === 'folder' && isKind(join(folder, name), 'folder'));
  return inner.flatMap((name) => listCode(join(folder, name), depth - 1).map((file) => `${name}/${file}`));
}

function readNames(folder: string): string[] {
  return entriesOf(folder)
    .map(({ name }) => name)
    .sort();
}

function isKind(path: string, kind: 'file' | 'folder'): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return (kind === 'file' ? stats?.isFile() : stats?.isDirectory()) ?? false;
}
