import { basename, join, relative, sep } from 'node:path';
import { isInside, realPathOf } from '../../file-system/paths.ts';

/** One folder that holds plugins. In a `wasm` root only `.wasm` files are plugins. */
export interface PluginRoot {
  readonly path: string;
  readonly kind: 'plugins' | 'wasm';
  /** How the folder is called where people read: its own name when no other root has the same, else its path. */
  readonly label: string;
}

/** The roots in the order of their paths; a folder that is named twice counts once. */
export function listRoots(config: {
  readonly pluginDirs: readonly string[];
  readonly wasmDirs: readonly string[];
}): PluginRoot[] {
  const kinds = new Map<string, PluginRoot['kind']>();
  for (const path of config.wasmDirs) kinds.set(path, 'wasm');
  for (const path of config.pluginDirs) kinds.set(path, 'plugins');
  const paths = [...kinds.keys()].sort();
  return paths.map((path) => {
    const shared = paths.filter((other) => basename(other) === basename(path)).length > 1;
    return { path, kind: kinds.get(path) ?? 'plugins', label: shared ? path : basename(path) };
  });
}

/** The root that a path lies in, and the name right below it; undefined for what lies in none. */
export function locate(roots: readonly PluginRoot[], path: string): { root: PluginRoot; name: string } | undefined {
  let found: { root: PluginRoot; name: string } | undefined;
  for (const root of roots) {
    if (!isInside(root.path, path)) continue;
    const [name] = relative(root.path, path).split(sep);
    if (name && (!found || root.path.length > found.root.path.length)) found = { root, name };
  }
  return found;
}

/** A path as people read it: `plugins/weather.ts`. */
export function displayPath(root: PluginRoot, path: string): string {
  return join(root.label, relative(root.path, path));
}

/** Any path without where the roots lie on this machine, also where they are reached by links; of what lies in none, the name alone. */
export function hidePlace(roots: readonly PluginRoot[], path: string): string {
  const places = roots.flatMap((root) => [root, { ...root, path: realPathOf(root.path) ?? root.path }]);
  const found = locate(places, path);
  return found === undefined ? basename(path) : join(basename(found.root.path), relative(found.root.path, path));
}
